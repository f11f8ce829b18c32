// After all tests: stops the container, or says loudly what was not tested.
export default async function teardown(): Promise<void> {
  await globalThis.mongodbContainer?.stop()
  const reason = process.env['MONGODB_MISSING']
  if (reason) console.error(`\nMongoDB WAS NOT TESTED: no MONGODB_URI, and no container: ${reason}`)
}
