// Load on one server: connections that stay open, each with one request at a time. Every response is
// checked. Uses sockets directly, which leaves most of the machine to the server.
import net from 'node:net'

/** A request, and the expected response. */
export interface Exchange {
  /** Method and path. */
  line: string
  token?: string
  ifMatch?: string | undefined
  body?: object
  status: number
  /** A text that the response contains. */
  contains: string
}

export type Connection = ReturnType<typeof connect>

/** Opens a connection. Its errors are not caught: they end the benchmark. */
export function connect(port: number) {
  const socket = net.connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1')
  let received = ''
  let resolve: (response: string) => void
  socket.on('data', (chunk: string) => {
    received += chunk
    if (!isComplete(received)) return
    resolve(received)
    received = ''
  })
  socket.on('end', () => socket.destroy(new Error('the server closed the connection')))
  return {
    /** @returns the body of the response @throws Error it is not the expected one */
    send: async (exchange: Exchange): Promise<string> => {
      socket.write(requestOf(exchange))
      const response = await new Promise<string>((resolver) => (resolve = resolver))
      const isExpected =
        response.startsWith(`HTTP/1.1 ${exchange.status} `) && response.includes(exchange.contains)
      if (!isExpected) throw new Error(`WRONG RESPONSE to ${exchange.line}:\n${response}`)
      return response.slice(response.indexOf('\r\n\r\n') + 4)
    },
    close: () => void socket.destroy(),
  }
}

/** Sends what `next` returns over all `connections`, for `seconds`. @returns the number of requests */
export async function load(connections: Connection[], seconds: number, next: () => Exchange) {
  const end = performance.now() + seconds * 1000
  let count = 0
  const worker = async ({ send }: Connection) => {
    do {
      await send(next())
      count += 1
    } while (performance.now() < end)
  }
  await Promise.all(connections.map(worker))
  return count
}

/** The text of the request (RFC 9112 §2.1). */
function requestOf({ line, token, ifMatch, body }: Exchange): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  const condition = ifMatch === undefined ? '' : `If-Match: ${ifMatch}\r\n`
  const head = `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}${condition}`
  if (!body) return `${head}\r\n`
  const text = JSON.stringify(body)
  return `${head}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
}

/** Whether a response without a body, with a length, or in chunks, has arrived completely. */
function isComplete(response: string): boolean {
  const head = response.indexOf('\r\n\r\n')
  if (head === -1 || response.startsWith('HTTP/1.1 204 ')) return head !== -1
  const length = /\r\ncontent-length: (\d+)/i.exec(response.slice(0, head))?.[1]
  if (length === undefined) return response.endsWith('\r\n0\r\n\r\n')
  return response.length === head + 4 + Number(length)
}
