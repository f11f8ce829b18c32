// The requests to the servers, and what the right responses contain.
import { hash, randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { connect, type Exchange } from './load.ts'

export const SECRET = 'a-secret-of-the-benchmark-with-32-bytes'

export type User = Record<'id' | 'name' | 'email', string>

/** Users that a server has, each of them once, and tokens that it accepts and refuses. */
export interface Fixtures {
  users: User[]
  /** How often one was renamed. */
  renamed: number
  tokens: string[]
  forged: string[]
}

export type Next = (fixtures: Fixtures) => Exchange

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!

const list: Next = ({ users, tokens }) => {
  return { line: 'GET /users', token: pick(tokens), status: 200, contains: pick(users).id }
}
const read: Next = ({ users, tokens }) => {
  const { id } = pick(users)
  return { line: `GET /users/${id}`, token: pick(tokens), status: 200, contains: id }
}
const refused: Next = (fixtures) => {
  return { ...read(fixtures), token: pick(fixtures.forged), status: 401, contains: 'message' }
}
const login: Next = ({ users }) => {
  const { email } = pick(users)
  return { line: 'POST /login', body: { email }, status: 200, contains: 'token' }
}
const page: Next = ({ users, tokens }) => {
  const line = `GET /users?limit=100&after=${pick(users).id}`
  return { line, token: pick(tokens), status: 200, contains: '[' }
}
/** Renames the users in turn: no two requests at once rename the same one, and the ETags are known. */
const renameIfMatch: Next = (fixtures) => {
  const user = fixtures.users[fixtures.renamed % fixtures.users.length]!
  fixtures.renamed += 1
  const ifMatch = etagOf(user)
  user.name = randomUUID()
  const request = { line: `PUT /users/${user.id}`, ifMatch, body: { name: user.name } }
  return { ...request, token: pick(fixtures.tokens), status: 204, contains: '' }
}
const rename: Next = (fixtures) => ({ ...renameIfMatch(fixtures), ifMatch: undefined })
const create: Next = ({ tokens }) => {
  const body = { name: 'Grace Hopper', email: `${randomUUID()}@example.com` }
  return { line: 'POST /users', token: pick(tokens), body, status: 201, contains: body.email }
}

/** The list comes first: later there are more users. */
export const SCENARIOS = {
  'list of 10,000': list,
  'GET by id': read,
  'log-in': login,
  'refused (401)': refused,
  POST: create,
}

/** What the Fastify peer does not have. */
export const OWN_SCENARIOS = {
  PUT: rename,
  'PUT with If-Match': renameIfMatch,
  'page of 100': page,
}

/** Creates 10,000 users on an empty server. */
export async function createUsers(port: number): Promise<Fixtures> {
  const fixtures: Fixtures = { users: [], renamed: 0, tokens: [tokenOf('1')], forged: [] }
  const numbers = Array(10_000).keys()
  const worker = async () => {
    const { send, close } = connect(port)
    for (const _ of numbers) fixtures.users.push(JSON.parse(await send(create(fixtures))))
    close()
  }
  await Promise.all(Array.from({ length: 64 }, worker))
  const { users } = fixtures
  const ids = users.slice(0, 64).map(({ id }) => id)
  const tokens = ids.map((id) => tokenOf(id))
  return { users, renamed: 0, tokens, forged: ids.map((id) => tokenOf(id, `not ${SECRET}`)) }
}

/** As the service makes it (`etagOf` in src/chassis/preconditions.ts): a wrong one gets 412 and ends the benchmark. */
const etagOf = ({ id, name, email }: User) =>
  `"${hash('sha256', JSON.stringify({ id, name, email }), 'base64url')}"`

const tokenOf = (id: string, secret = SECRET) => jwt.sign({ id }, secret, { expiresIn: '1d' })
