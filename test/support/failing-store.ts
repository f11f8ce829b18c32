// A store that fails.
import { StoreFailure } from '../../src/chassis/index.ts'
import type { UserStore } from '../../src/store/user-store.ts'

const CAUSE = new Error('the cause')

/** A store whose calls all fail, except the given `methods`. */
export function failing(methods: Partial<UserStore> = {}, cause = CAUSE): UserStore {
  const fail = () => Promise.reject(new StoreFailure(cause))
  return {
    description: 'nothing',
    create: fail,
    find: fail,
    findByEmail: fail,
    list: fail,
    rename: fail,
    remove: fail,
    oldest: fail,
    isGone: () => false,
    close: async () => {},
    ...methods,
  }
}
