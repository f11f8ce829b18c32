// The requests to the servers, and what the right responses contain.
import { randomUUID } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { connect, type Exchange } from './load.ts'

export const SECRET = 'a-secret-of-the-benchmark-with-32-bytes'

/** Users that a server has, and tokens that it accepts and refuses. */
export interface World {
  users: { id: string; email: string }[]
  tokens: string[]
  forged: string[]
}

type Next = (world: World) => Exchange

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!

const list: Next = ({ users, tokens }) => {
  return { line: 'GET /users', token: pick(tokens), status: 200, holds: pick(users).id }
}
const read: Next = ({ users, tokens }) => {
  const { id } = pick(users)
  return { line: `GET /users/${id}`, token: pick(tokens), status: 200, holds: id }
}
const refused: Next = (world) => {
  return { ...read(world), token: pick(world.forged), status: 401, holds: 'message' }
}
const login: Next = ({ users }) => {
  const { email } = pick(users)
  return { line: 'POST /login', body: { email }, status: 200, holds: 'token' }
}
const create: Next = ({ tokens }) => {
  const body = { name: 'Grace Hopper', email: `${randomUUID()}@example.com` }
  return { line: 'POST /users', token: pick(tokens), body, status: 201, holds: body.email }
}

/** Seven GETs, a log-in, a POST and a request that is refused. */
const mixture = [...Array<Next>(7).fill(read), login, create, refused]
const mixed: Next = (world) => pick(mixture)(world)

/** In the order of the run: the list comes before there are more users. */
export const SCENARIOS = [
  { name: 'list of 10,000', next: list, connections: [8, 1] },
  { name: 'GET by id', next: read, connections: [64, 8, 1] },
  { name: 'log-in', next: login, connections: [64, 8, 1] },
  { name: 'refused (401)', next: refused, connections: [64, 8, 1] },
  { name: 'POST', next: create, connections: [64, 8, 1] },
  { name: 'mixed', next: mixed, connections: [64, 8, 1] },
]

/** Creates 10,000 users on an empty server. */
export async function fill(port: number): Promise<World> {
  const world: World = { users: [], tokens: [tokenOf('1')], forged: [] }
  const numbers = Array(10_000).keys()
  const use = async () => {
    const { send, close } = connect(port)
    for (const _ of numbers) world.users.push(JSON.parse(await send(create(world))))
    close()
  }
  await Promise.all(Array.from({ length: 64 }, use))
  const ids = world.users.slice(0, 64).map(({ id }) => id)
  world.tokens = ids.map((id) => tokenOf(id))
  world.forged = ids.map((id) => tokenOf(id, `not ${SECRET}`))
  return world
}

const tokenOf = (id: string, secret = SECRET) => jwt.sign({ id }, secret, { expiresIn: '1d' })
