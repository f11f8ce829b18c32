// A store that fails.
import { StoreFailure, type User, type UserStore } from '../../src/store/user-store.ts'

/** A store of which every call fails, but for what is given. */
export function failing(
  methods: Partial<UserStore> = {},
  cause: Error = new Error('the cause'),
): UserStore {
  const fail = async () => {
    throw new StoreFailure(cause)
  }
  // eslint-disable-next-line require-yield
  const list = async function* (): AsyncGenerator<User[]> {
    await fail()
  }
  const reads = { find: fail, findByEmail: fail, list, ids: fail }
  const calls = { create: fail, createMany: fail, ...reads, rename: fail, remove: fail }
  return {
    description: 'nothing',
    most: 1,
    ...calls,
    isEmpty: fail,
    close: async () => {},
    ...methods,
  }
}
