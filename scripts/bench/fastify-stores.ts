// The peer's users: one call of the driver an operation, statements prepared once.
import { DatabaseSync } from '@photostructure/sqlite'
import { MongoClient, MongoServerError, ObjectId } from 'mongodb'
import { join } from 'node:path'

interface User {
  id: string
  name: string
  email: string
}

export interface Users {
  /** Undefined when the email is taken. */
  create(name: string, email: string): Promise<User | undefined>
  find(id: string): Promise<User | undefined>
  findByEmail(email: string): Promise<User | undefined>
  list(): Promise<User[]>
  close(): void
}

export async function openMongo(uri: string): Promise<Users> {
  const client = await new MongoClient(uri, {
    writeConcern: { w: 'majority', journal: true },
  }).connect()
  const users = client.db().collection<{ name: string; email: string }>('users')
  await users.createIndex({ email: 1 }, { unique: true, sparse: true, name: 'users_email_unique' })
  const toUser = ({ _id, name, email }: { _id: ObjectId; name: string; email: string }) => ({
    id: _id.toHexString(),
    name,
    email,
  })
  return {
    async create(name, email) {
      try {
        const { insertedId } = await users.insertOne({ name, email })
        return { id: insertedId.toHexString(), name, email }
      } catch (error) {
        if (error instanceof MongoServerError && error.code === 11000) return undefined
        throw error
      }
    },
    async find(id) {
      const found = await users.findOne({ _id: new ObjectId(id) })
      return found ? toUser(found) : undefined
    },
    async findByEmail(email) {
      const found = await users.findOne({ email })
      return found ? toUser(found) : undefined
    },
    list: async () => (await users.find().sort({ _id: 1 }).toArray()).map(toUser),
    close: () => void client.close(),
  }
}

export function openSqlite(dataDir: string): Users {
  const db = new DatabaseSync(join(dataDir, 'users.db'), { timeout: 2_000 })
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS users
      (id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE) STRICT`)
  const insert = db.prepare('INSERT INTO users VALUES (?, ?, ?)')
  const byId = db.prepare('SELECT id, name, email FROM users WHERE id = ?')
  const byEmail = db.prepare('SELECT id, name, email FROM users WHERE email = ?')
  const all = db.prepare('SELECT id, name, email FROM users ORDER BY id')
  return {
    async create(name, email) {
      const id = new ObjectId().toHexString()
      try {
        insert.run(id, name, email)
        return { id, name, email }
      } catch (error) {
        if ((error as { errcode?: number }).errcode === 2067) return undefined
        throw error
      }
    },
    find: async (id) => byId.get(id) as User | undefined,
    findByEmail: async (email) => byEmail.get(email) as User | undefined,
    list: async () => all.all(),
    close: () => db.close(), // and nobody collects it as garbage while its statements are in use
  }
}
