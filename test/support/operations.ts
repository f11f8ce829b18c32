// A call of the client for every operation of the contract, for a user that does not exist.
import type { UsersClient } from '../../src/client/client.ts'
import type { operations } from '../../src/openapi.ts'
import { newUser } from './users.ts'

type Call = (users: UsersClient) => Promise<{ response: Response; error?: { message: string } }>

const params = { path: { id: '665f1c2e8b3f4a0012d4ffff' } }

const calls: Record<keyof operations, Call> = {
  listUsers: (users) => users.GET('/users'),
  createUser: (users) => users.POST('/users', { body: newUser() }),
  readUser: (users) => users.GET('/users/{id}', { params }),
  renameUser: (users) => users.PUT('/users/{id}', { params, body: { name: 'x' } }),
  deleteUser: (users) => users.DELETE('/users/{id}', { params }),
  login: (users) => users.POST('/login', { body: { email: 'x' } }),
}

/** Pairs of an `operationId` and a call. */
export const everyOperation = Object.entries(calls)
