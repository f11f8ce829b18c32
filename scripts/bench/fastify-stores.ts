// The users of the Fastify peer: one call of the driver for each operation, statements prepared once.
import { DatabaseSync } from '@photostructure/sqlite'
import { MongoClient, ObjectId, type WithId } from 'mongodb'

export type User = Record<'id' | 'name' | 'email', string>
type NewUser = Omit<User, 'id'>

export async function openMongo(uri: string) {
  const client = new MongoClient(uri, { writeConcern: { w: 'majority', journal: true } })
  const users = client.db().collection<NewUser>('users')
  await users.createIndex({ email: 1 }, { unique: true, sparse: true, name: 'users_email_unique' })
  const toUser = ({ _id, name, email }: WithId<NewUser>) => ({ id: _id.toHexString(), name, email })
  const find = async (filter: object) => {
    const found = await users.findOne(filter)
    return found ? toUser(found) : undefined
  }
  return {
    async create({ name, email }: NewUser) {
      const { insertedId } = await users.insertOne({ name, email })
      return { id: insertedId.toHexString(), name, email }
    },
    find: (id: string) => find({ _id: new ObjectId(id) }),
    findByEmail: (email: string) => find({ email }),
    list: async () => (await users.find().sort({ _id: 1 }).toArray()).map(toUser),
  }
}

export function openSqlite(file: string): Awaited<ReturnType<typeof openMongo>> {
  const db = new DatabaseSync(file, { timeout: 2_000 })
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS users
      (id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE) STRICT`)
  const insert = db.prepare('INSERT INTO users VALUES (?, ?, ?)')
  const byId = db.prepare('SELECT id, name, email FROM users WHERE id = ?')
  const byEmail = db.prepare('SELECT id, name, email FROM users WHERE email = ?')
  const all = db.prepare('SELECT id, name, email FROM users ORDER BY id')
  process.on('exit', () => db.close()) // keeps `db` from the garbage collector until then
  return {
    async create({ name, email }) {
      const id = new ObjectId().toHexString()
      insert.run(id, name, email)
      return { id, name, email }
    },
    find: async (id) => byId.get(id) as User | undefined,
    findByEmail: async (email) => byEmail.get(email) as User | undefined,
    list: async () => all.all() as User[],
  }
}
