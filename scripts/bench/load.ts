// Load on one server: connections that are kept alive, each with one request at a time, each answer
// checked. Reads bytes off the socket itself, so that most of the machine is left for the server.
import { once } from 'node:events'
import net from 'node:net'
import { performance } from 'node:perf_hooks'

export interface Exchange {
  /** The whole request, as it goes over the wire. */
  request: string
  status: number
  /** What the body of the right answer holds. */
  holds: string
}

export interface Load {
  requests: number
  wrong: number
  /** Seconds that it took. */
  seconds: number
  /** Of each request, in milliseconds, ascending. */
  latencies: number[]
}

/** The HTTP/1.1 text of a request. */
export function request(line: string, token?: string, body?: object): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  const head = `${line} HTTP/1.1\r\nHost: bench\r\n${authorization}`
  if (!body) return `${head}\r\n`
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text)
  return `${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${text}`
}

/** Sends what `next` gives over so many connections for so many seconds. */
export async function load(
  port: number,
  connections: number,
  seconds: number,
  next: () => Exchange,
): Promise<Load> {
  const start = performance.now()
  const end = start + seconds * 1000
  const latencies: number[] = []
  let wrong = 0
  const client = async () => {
    const connection = await dial(port)
    while (performance.now() < end) {
      const exchange = next()
      const begun = performance.now()
      const answer = await connection.send(exchange.request)
      latencies.push(performance.now() - begun)
      if (answer.status !== exchange.status || !answer.body.includes(exchange.holds)) wrong += 1
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, client))
  const took = (performance.now() - start) / 1000
  latencies.sort((a, b) => a - b)
  return { requests: latencies.length, wrong, seconds: took, latencies }
}

interface Answer {
  status: number
  body: string
}

async function dial(port: number) {
  const socket = net.connect(port, '127.0.0.1').setNoDelay()
  await once(socket, 'connect')
  let received = ''
  let resolve: (answer: Answer) => void
  let reject: (error: Error) => void = () => {}
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk
    const answer = parse(received)
    if (!answer) return
    received = ''
    resolve(answer)
  })
  socket.on('error', (error) => reject(error))
  socket.on('close', () => reject(new Error('the server closed the connection')))
  return {
    send(text: string): Promise<Answer> {
      socket.write(text)
      return new Promise((yes, no) => {
        resolve = yes
        reject = no
      })
    },
    close: () => socket.destroy(),
  }
}

/** An answer with a Content-Length, once it is whole. */
function parse(received: string): Answer | undefined {
  const head = received.indexOf('\r\n\r\n')
  if (head === -1) return undefined
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? '0'
  if (received.length < head + 4 + Number(length)) return undefined
  return { status: Number(received.slice(9, 12)), body: received.slice(head + 4) }
}
