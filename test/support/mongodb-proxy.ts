// A proxy to MongoDB that can be slow, cut or stalled, and that knows the commands that a client has sent.
import { BSON, type Document } from 'mongodb'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Command = Document & { name: string }

/** A proxy to the first host of the connection string `to`. @param more options that are added to the connection string */
export async function startProxy(to: string, more: Record<string, string> = {}) {
  const [, login = '', target, path, query] =
    /^mongodb:\/\/([^@/]*@)?([^,/?]+)[^/?]*(\/?[^?]*)\??(.*)$/.exec(to)!
  const { hostname, port } = new URL(`mongodb://${target}`)
  const pairs: [Socket, Socket][] = []
  const sent: Buffer[][] = []
  let state = 'open'
  let held: Buffer[] = []
  let delayMs = 0
  let standstill = Promise.resolve()
  const send = async (inward: Socket, answer: Buffer) => {
    if (delayMs > 0) await sleep(delayMs)
    await standstill
    inward.write(answer)
  }
  const server = net.createServer((inward) => {
    if (state === 'cut') return void inward.destroy()
    const pair: [Socket, Socket] = [inward, net.connect(Number(port) || 27_017, hostname)]
    const chunks: Buffer[] = []
    pairs.push(pair)
    sent.push(chunks)
    inward.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (held[0] && held.every((part) => chunk.includes(part))) pair[1].pause()
    })
    inward.pipe(pair[1]).on('data', (answer: Buffer) => void send(inward, answer))
    for (const socket of pair) {
      socket.on('error', () => {}).on('close', () => pair.forEach((end) => end.destroy()))
    }
    if (state === 'stalled') stall(pair)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const own = server.address() as AddressInfo
  const search = { ...Object.fromEntries(new URLSearchParams(query)), directConnection: 'true' }
  const options = new URLSearchParams({ ...search, ...more }).toString()
  return {
    /** The connection string through the proxy. */
    uri: `mongodb://${login}127.0.0.1:${own.port}${path}?${options}`,
    be(next: 'open' | 'cut' | 'stalled') {
      state = next
      for (const pair of pairs) {
        if (next === 'stalled') stall(pair)
        else pair[0].destroy() // a stalled connection is never used again
      }
    },
    /** From now on, each answer takes `ms` more. */
    slowDown(ms: number) {
      delayMs = ms
    },
    /** Until `end` resolves, no answer comes. */
    standStill(end: Promise<void>) {
      standstill = end
    },
    /** How many connections there have been. */
    connections: () => pairs.length,
    /** From now on, no answer to a command with this name comes, for one user or all, although the server does it. */
    holdAnswersTo(name?: string, id = '') {
      held = name ? [Buffer.from(`${name}\0`), Buffer.from(id, 'hex')] : []
    },
    /** All commands until now, without those of a connection. */
    commands() {
      const all = sent.flatMap((chunks) => [...commandsIn(Buffer.concat(chunks))])
      return all.filter(({ name }) => !/^(hello|ismaster|sasl.*|authenticate)$/i.test(name))
    },
    async close() {
      server.close()
      for (const [inward] of pairs) inward.destroy()
      await once(server, 'close')
    },
  }
}

function stall([inward, outward]: [Socket, Socket]): void {
  inward.unpipe().pause()
  outward.pause()
}

/** The commands in the bytes of a client: OP_MSG, whose first section has the command. */
function* commandsIn(bytes: Buffer): Generator<Command> {
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
    if (bytes.readInt32LE(at + 12) !== 2013) continue
    const start = at + 16 + 4 + 1
    const command = BSON.deserialize(bytes.subarray(start, start + bytes.readInt32LE(start)))
    yield { ...command, name: Object.keys(command)[0]! }
  }
}
