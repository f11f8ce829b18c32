// What clients over bare sockets can do, also hostile ones.
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A client that goes on until its connection ends; `onText` gets what the service sends to it. */
export type Hostile = (port: number, onText?: (text: string) => void) => net.Socket

const open = new Set<net.Socket>()
/** Ends the connections of all clients. */
export const hangUp = () => open.forEach((socket) => void socket.destroy())

function connect(port: number, onText: (text: string) => void = () => {}) {
  const socket = net
    .connect(port, '127.0.0.1')
    .on('error', () => {}) // a reset, which is an end
    .on('close', () => open.delete(socket))
    .setEncoding('latin1')
    .on('data', onText)
  open.add(socket)
  return socket
}

/** What the service has sent to a client, once the connection has ended. */
export async function textFrom(client: Hostile, port: number): Promise<string> {
  let text = ''
  await new Promise((resolve) => client(port, (more) => (text += more)).once('close', resolve))
  return text
}

/** Sends something, then listens. */
export const says =
  (bytes: string): Hostile =>
  (port, onText) => {
    const socket = connect(port, onText)
    socket.write(bytes)
    return socket
  }

/** Sends `head`, then `piece` again and again, without an end. */
export const goesOn =
  (head: string, piece: string, pause = 20): Hostile =>
  (port, onText) => {
    const socket = says(head)(port, onText)
    const more = () => !socket.writableNeedDrain && socket.write(piece)
    const timer = setInterval(() => setImmediate(more), pause) // first, what has arrived is read
    return socket.once('close', () => clearInterval(timer))
  }

/** Sends requests and reads no response. */
export const doesNotRead =
  (bytes: string): Hostile =>
  (port, onText) =>
    says(bytes)(port, onText).pause()

/** Sends something again and again, each time over a new connection, soon after the end of the one before. */
export const comesBack =
  (bytes: string, until: () => boolean): Hostile =>
  (port, onText) =>
    says(bytes)(port, onText).once('close', () => {
      setTimeout(() => until() || comesBack(bytes, until)(port, onText), 10)
    })

/** Sends something, and leaves after `ms` without a response; again and again. */
export const leaves =
  (bytes: string, ms: number, until: () => boolean): Hostile =>
  (port, onText) => {
    const socket = says(bytes)(port, onText)
    const timer = setTimeout(() => socket.resetAndDestroy(), ms)
    return socket.once('close', () => {
      clearTimeout(timer)
      if (!until()) setTimeout(leaves(bytes, ms, until), 10, port, onText)
    })
  }

/** Waits for a condition. @throws Error `problem`: it is still false after 30 s */
export async function until(
  condition: () => boolean,
  problem = 'it never became true',
): Promise<void> {
  const start = performance.now()
  while (!condition()) {
    if (performance.now() > start + 30_000) throw new Error(problem)
    await sleep(5)
  }
}

/** As many clients as `count`, all at once. */
export const many = <T>(count: number, one: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => one(i)))

/** Awaits what is hostile, and uses the service ordinarily at least once until then. */
export async function amid<T>(
  hostile: Promise<T>,
  port: number,
  use: (port: number) => Promise<void>,
): Promise<T> {
  const state = { isOver: false }
  const end = hostile.finally(() => (state.isOver = true))
  do {
    await use(port)
    await sleep(20)
  } while (!state.isOver)
  return end
}
