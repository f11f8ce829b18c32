// The requests to the servers, and what the right responses contain.
import { randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { connect, type Exchange } from './load.ts'

export const SECRET = 'a-secret-of-the-benchmark-with-32-bytes'

/** Users that a server has, and tokens that it accepts and refuses. */
export interface Fixtures {
  users: { id: string; email: string }[]
  tokens: string[]
  forged: string[]
}

type Next = (fixtures: Fixtures) => Exchange

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
const rename: Next = (fixtures) => {
  const line = read(fixtures).line.replace('GET', 'PUT')
  return { ...read(fixtures), line, body: { name: randomUUID() }, status: 204, contains: '' }
}
const create: Next = ({ tokens }) => {
  const body = { name: 'Grace Hopper', email: `${randomUUID()}@example.com` }
  return { line: 'POST /users', token: pick(tokens), body, status: 201, contains: body.email }
}

/** Seven GETs, a log-in, a POST and a request that is refused. */
const mixture = [...Array<Next>(7).fill(read), login, create, refused]
const mixed: Next = (fixtures) => pick(mixture)(fixtures)

/** In the order of the run: the list comes before there are more users. */
export const SCENARIOS = [
  { name: 'list of 10,000', next: list, connections: [8, 1] },
  { name: 'GET by id', next: read, connections: [64, 8, 1] },
  { name: 'log-in', next: login, connections: [64, 8, 1] },
  { name: 'refused (401)', next: refused, connections: [64, 8, 1] },
  { name: 'POST', next: create, connections: [64, 8, 1] },
  { name: 'mixed', next: mixed, connections: [64, 8, 1] },
]

/** For a comparison of few users with many; the peers do not have all of them. */
export const SCALE_SCENARIOS = [
  ...SCENARIOS.slice(1),
  { name: 'page of 100', next: page, connections: [64, 8, 1] },
  { name: 'PUT', next: rename, connections: [64, 8, 1] },
]

/** Creates 10,000 users on an empty server. */
export async function createUsers(port: number): Promise<Fixtures> {
  const fixtures: Fixtures = { users: [], tokens: [tokenOf('1')], forged: [] }
  const numbers = Array(10_000).keys()
  const worker = async () => {
    const { send, close } = connect(port)
    for (const _ of numbers) fixtures.users.push(JSON.parse(await send(create(fixtures))))
    close()
  }
  await Promise.all(Array.from({ length: 64 }, worker))
  return fixturesOf(fixtures.users)
}

/** @param users that the server has */
export function fixturesOf(users: Fixtures['users']): Fixtures {
  const ids = users.slice(0, 64).map(({ id }) => id)
  const tokens = ids.map((id) => tokenOf(id))
  return { users, tokens, forged: ids.map((id) => tokenOf(id, `not ${SECRET}`)) }
}

const tokenOf = (id: string, secret = SECRET) => jwt.sign({ id }, secret, { expiresIn: '1d' })
