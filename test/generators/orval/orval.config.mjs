export default {
  users: {
    input: process.env.CONTRACT,
    output: {
      target: 'api.ts',
      client: 'fetch',
      headers: true,
      baseUrl: { runtime: 'process.env.URL' },
      // Orval's listUsers would return a stream without types, because the list can also be NDJSON.
      override: { contentType: { exclude: ['application/x-ndjson'] } },
    },
  },
}
