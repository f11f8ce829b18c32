// A proxy that speaks HTTP/1.0 to the service, as nginx does by default, and HTTP/1.1 to its clients.
import http from 'node:http'
import net from 'node:net'
import { listen } from './service.ts'

/** A proxy to the service on `port`. The end of the connection is the end of the response; a reset is passed on. */
export async function startHttpProxy(port: number) {
  const server = http.createServer(({ method, url, headers }, response) => {
    const fields = Object.entries({ ...headers, connection: 'close' })
    const lines = fields.map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')
    const service = net.connect(port, '127.0.0.1')
    service.write(`${method} ${url} HTTP/1.0\r\n${lines}\r\n`)
    service.on('error', () => response.destroy())
    let head = ''
    service.on('data', (chunk: Buffer) => {
      if (response.headersSent) return void response.write(chunk)
      head += chunk.toString('latin1')
      const [before, body] = head.split(/\r\n\r\n([^]*)/)
      if (body === undefined) return
      response.writeHead(
        Number(head.split(' ')[1]),
        before!
          .split('\r\n')
          .slice(1)
          .flatMap((line) => line.split(/: (.*)/).slice(0, 2)),
      )
      response.write(Buffer.from(body, 'latin1'))
    })
    service.on('end', () => response.end())
  })
  return { port: await listen(server), close: async () => void server.close() }
}
