// A store that fails.
import { StoreFailure, type User, type UserStore } from '../../src/store/user-store.ts'

/** A store whose calls all fail, except the given `methods`. */
export function failing(
  methods: Partial<UserStore> = {},
  cause: Error = new Error('the cause'),
): UserStore {
  const fail = () => Promise.reject(new StoreFailure(cause))
  return {
    description: 'nothing',
    create: fail,
    maxBatchSize: 1,
    createMany: fail,
    find: fail,
    findByEmail: fail,
    // eslint-disable-next-line require-yield
    async *list(): AsyncGenerator<User[]> {
      await fail()
    },
    ids: fail,
    rename: fail,
    remove: fail,
    isEmpty: fail,
    close: async () => {},
    ...methods,
  }
}
