// The users of the Fastify peer: one call of the driver for each operation, statements prepared once.
import { DatabaseSync } from '@photostructure/sqlite'
import { MongoClient, ObjectId, type WithId } from 'mongodb'
import { join } from 'node:path'

export interface User {
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
  const client = new MongoClient(uri, { writeConcern: { w: 'majority', journal: true } })
  const users = client.db().collection<Omit<User, 'id'>>('users')
  await users.createIndex({ email: 1 }, { unique: true, sparse: true, name: 'users_email_unique' })
  const toUser = ({ _id, name, email }: WithId<Omit<User, 'id'>>): User => {
    return { id: _id.toHexString(), name, email }
  }
  const found = async (filter: object) => {
    const document = await users.findOne(filter)
    return document ? toUser(document) : undefined
  }
  return {
    create: (name, email) =>
      users
        .insertOne({ name, email })
        .then(
          ({ insertedId }) => ({ id: insertedId.toHexString(), name, email }),
          unlessTaken('code', 11000),
        ),
    find: (id) => found({ _id: new ObjectId(id) }),
    findByEmail: (email) => found({ email }),
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
        return unlessTaken('errcode', 2067)(error)
      }
    },
    find: async (id) => byId.get(id) as User | undefined,
    findByEmail: async (email) => byEmail.get(email) as User | undefined,
    list: async () => all.all() as User[],
    close: () => db.close(), // also keeps the database from the garbage collector
  }
}

/** Throws again what does not say, by this field, that the email is taken. */
const unlessTaken = (field: string, code: number) => (error: unknown) => {
  if ((error as Record<string, unknown>)[field] !== code) throw error
  return undefined
}
