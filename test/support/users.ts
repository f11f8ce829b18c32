// Users for tests. The one place that has to know a new field of a user.
import { newUserId } from '../../src/store/user-id.ts'
import type { User } from '../../src/store/user-store.ts'

let made = 0

/** The fields of a user to be created; each has a text of its own. */
export function newUser(fields: Partial<Omit<User, 'id'>> = {}): Omit<User, 'id'> {
  made += 1
  return { name: `User ${made}`, email: `user-${made}@example.com`, ...fields }
}

/** A user with an id. */
export const user = (fields: Partial<User> = {}): User => ({
  id: newUserId(),
  ...newUser(),
  ...fields,
})
