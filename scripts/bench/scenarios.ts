// What the servers are asked for, and what the right responses hold.
import { createHmac, randomUUID } from 'node:crypto'
import { connect, requestOf, type Exchange } from './load.ts'

export const SECRET = 'a-secret-of-the-benchmark-with-32-bytes'

/** Users that a server has, and tokens that it accepts and refuses. */
export interface World {
  users: { id: string; email: string }[]
  tokens: string[]
  forged: string[]
}

type Next = (world: World) => Exchange

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!

const read: Next = ({ users, tokens }) => {
  const { id } = pick(users)
  return { request: requestOf(`GET /users/${id}`, pick(tokens)), status: 200, holds: id }
}
const login: Next = ({ users }) => {
  const { email } = pick(users)
  return { request: requestOf('POST /login', undefined, { email }), status: 200, holds: 'token' }
}
const create: Next = ({ tokens }) => {
  const email = `${randomUUID()}@example.com`
  const request = requestOf('POST /users', pick(tokens), { name: 'Grace Hopper', email })
  return { request, status: 201, holds: email }
}
const refused: Next = ({ users, forged }) => {
  const request = requestOf(`GET /users/${pick(users).id}`, pick(forged))
  return { request, status: 401, holds: 'message' }
}
const list: Next = ({ users, tokens }) => {
  return { request: requestOf('GET /users', pick(tokens)), status: 200, holds: pick(users).id }
}
const mixture = [...Array<Next>(7).fill(read), login, create, refused]
const mixed: Next = (world) => pick(mixture)(world)

/** In the order of the run: the list comes before there are more users. */
export const SCENARIOS = [
  { name: 'list of 10,000', next: list, connections: [8, 1] },
  { name: 'GET by id', next: read, connections: [64, 8, 1] },
  { name: 'log-in', next: login, connections: [64, 8, 1] },
  { name: 'refused (401)', next: refused, connections: [64, 8, 1] },
  { name: 'POST', next: create, connections: [64, 8, 1] },
  { name: 'mixed (7 GET, log-in, POST, 401)', next: mixed, connections: [64, 8, 1] },
]

/** Creates 10,000 users on an empty server. */
export async function fill(port: number): Promise<World> {
  const world: World = { users: [], tokens: [tokenOf('1', SECRET)], forged: [] }
  const numbers = Array(10_000).keys()
  const use = async () => {
    const { send, close } = connect(port)
    for (const _ of numbers) world.users.push(JSON.parse(await send(create(world))))
    close()
  }
  await Promise.all(Array.from({ length: 64 }, use))
  const ids = world.users.slice(0, 64).map(({ id }) => id)
  world.tokens = ids.map((id) => tokenOf(id, SECRET))
  world.forged = ids.map((id) => tokenOf(id, `not ${SECRET}`))
  return world
}

/** A token as the servers issue them. */
function tokenOf(id: string, secret: string): string {
  const now = Math.floor(Date.now() / 1000)
  const parts = [
    { alg: 'HS256', typ: 'JWT' },
    { id, iat: now, exp: now + 86_400 },
  ]
  const text = parts
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}
