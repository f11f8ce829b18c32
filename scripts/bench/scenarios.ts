// What is asked of the servers, and what the right answers hold.
import { randomUUID } from 'node:crypto'
import type { User } from '../../src/store/user-store.ts'
import type { Tokens } from '../../src/auth/tokens.ts'
import { request, type Exchange } from './load.ts'

export interface Scenario {
  name: string
  connections: number
  next: () => Exchange
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!

export function scenariosOn(users: readonly User[], tokens: Tokens): Scenario[] {
  const token = tokens.issue(users[0]!.id)
  const thousand = users.slice(0, 1_000).map(({ id }) => tokens.issue(id))

  const read = (bearer = token): Exchange => {
    const { id } = pick(users)
    return { request: request(`GET /users/${id}`, bearer), status: 200, holds: id }
  }
  const login = (): Exchange => {
    const { email } = pick(users)
    return { request: request('POST /login', undefined, { email }), status: 200, holds: 'token' }
  }
  const create = (): Exchange => {
    const email = `${randomUUID()}@example.com`
    const sent = request('POST /users', token, { name: 'Grace Hopper', email })
    return { request: sent, status: 201, holds: email }
  }
  const refused = (): Exchange => ({ ...read('x'), status: 401, holds: 'bearer' })
  const seven = Array.from({ length: 7 }, () => read)
  const mixed = () => pick([...seven, login, create, refused])()

  return [
    { name: 'GET by id, 64 connections', connections: 64, next: () => read() },
    { name: 'GET by id, 1,000 tokens', connections: 64, next: () => read(pick(thousand)) },
    { name: 'GET by id, 8 connections', connections: 8, next: () => read() },
    { name: 'GET by id, 1 connection', connections: 1, next: () => read() },
    { name: 'log-in', connections: 64, next: login },
    { name: 'POST', connections: 64, next: create },
    { name: 'refused', connections: 64, next: refused },
    { name: 'mixed (7 GET, log-in, POST, refused)', connections: 64, next: mixed },
  ]
}

/** Lists of so many users, and how many ask for one at the same time. */
export const LISTS = [
  { name: 'list of 10,000', count: 10_000, readers: 1 },
  { name: 'list of 200,000', count: 200_000, readers: 1 },
  { name: 'list of 200,000, four at once', count: 200_000, readers: 4 },
]
