// What the MongoDB store says of itself, and what it sends to the server. (What it does: store.test.ts.)
import { describe, expect, test } from '@jest/globals'
import { BSON } from 'mongodb'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import { StoreFailure, type UserStore } from '../../../src/store/user-store.ts'
import { mongodbPlace } from '../../support/stores.ts'

test('a URI that is none is named as the setting that it is', async () => {
  const opening = openMongoStore('mongodb:/x')
  await expect(opening).rejects.toThrow(StoreFailure)
  await expect(opening).rejects.toThrow(/^cannot use MONGODB_URI: /)
})

test('servers that cannot be reached are named, without the credentials', async () => {
  const opening = openMongoStore('mongodb://ada:secret@127.0.0.1:1,127.0.0.1:2/users')
  await expect(opening).rejects.toThrow(StoreFailure)
  await expect(opening).rejects.toThrow(
    /^cannot open MongoDB at 127\.0\.0\.1:1,127\.0\.0\.1:2\/users: /,
  )
  await expect(opening).rejects.not.toThrow('secret')
})

const describeMongodb = process.env['MONGODB_URI'] ? describe : describe.skip

describeMongodb('on the wire', () => {
  interface Command extends BSON.Document {
    name: string
  }

  /** The commands in what a client has sent: OP_MSG, of which the first section has the command. */
  function* commandsIn(bytes: Buffer): Generator<Command> {
    for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
      if (bytes.readInt32LE(at + 12) !== 2013) continue
      const start = at + 16 + 4 + 1
      const command = BSON.deserialize(bytes.subarray(start, start + bytes.readInt32LE(start)))
      yield { ...command, name: Object.keys(command)[0]! }
    }
  }

  /**
   * The commands that a store sends of itself and for `work`, without those that keep a connection, and
   * those that FerretDB gets alone (src/store/turns.ts).
   */
  async function sent(
    work: (store: UserStore) => Promise<unknown>,
    options = '',
  ): Promise<Command[]> {
    const place = mongodbPlace()
    const { hostname, port, pathname } = new URL(place.mongodbUri!)
    const connections: Buffer[][] = []
    const proxy = net.createServer((inward) => {
      const chunks: Buffer[] = []
      connections.push(chunks)
      const outward = net.connect(Number(port) || 27_017, hostname)
      inward.on('data', (chunk) => void chunks.push(chunk))
      inward.on('error', () => {}).on('close', () => outward.destroy())
      outward.on('error', () => {}).on('close', () => inward.destroy())
      inward.pipe(outward).pipe(inward)
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const { search } = new URL(place.mongodbUri!)
    const store = await openMongoStore(`mongodb://${host}${pathname}${search}${options}`)
    expect(store.description).toBe(`MongoDB at ${host}${pathname}`)
    await work(store)
    const commands = connections.flatMap((chunks) => [...commandsIn(Buffer.concat(chunks))])
    await store.close()
    proxy.close()
    await place.remove()
    return commands.filter(
      (command) =>
        !/^(hello|ismaster|buildInfo)$/i.test(command.name) && command[command.name] !== 'turns',
    )
  }

  const namesOf = (commands: Command[]) => commands.map(({ name }) => name)

  test('the index is unique and leaves out what has no email', async () => {
    const [created] = await sent(async () => {})
    expect(created).toMatchObject({
      name: 'createIndexes',
      indexes: [{ name: 'users_email_unique', key: { email: 1 }, unique: true, sparse: true }],
    })
  })

  test('a write waits for the journals of the majority, whatever the URI says', async () => {
    const commands = await sent(async (store) => {
      const { id } = await store.create({ name: 'Ada', email: '' })
      await Promise.all(['a', 'b'].map((name) => store.create({ name, email: '' })))
      await store.rename(id, 'Grace')
      await store.remove(id)
    }, '&w=1&journal=false')
    const writes = commands.slice(1)
    expect(namesOf(writes)).toEqual(['insert', 'insert', 'update', 'delete'])
    for (const write of writes) expect(write.writeConcern).toEqual({ w: 'majority', j: true })
  })

  test('a read is one of the primary, whatever the URI says', async () => {
    const commands = await sent(async (store) => {
      await store.findByEmail('ada@x')
      await store.isEmpty()
    }, '&readPreference=secondary')
    const reads = commands.slice(1)
    expect(namesOf(reads)).toEqual(['find', 'find'])
    for (const read of reads) {
      expect(read.$readPreference?.mode ?? 'primary').toMatch(/^primary/)
    }
  })

  test('a list that is let go of is let go of there, too', async () => {
    const commands = await sent(async (store) => {
      const names = Array.from({ length: 501 }, (_, i) => `${i}`)
      await Promise.all(names.map((name) => store.create({ name, email: '' })))
      for await (const _ of store.list()) break
      await store.isEmpty()
    })
    expect(namesOf(commands)).toContain('killCursors')
  })
})
