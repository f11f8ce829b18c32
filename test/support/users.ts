// The users that tests create. A new field of `User` is given here, and in no other test.
import { newUserId } from '../../src/store/user-id.ts'
import { contract } from '../../src/contract.ts'
import type { User } from '../../src/store/user-store.ts'

let count = 0

/** The fields of a new user; its email is unique in the test file. */
export function newUser(overrides: Partial<Omit<User, 'id'>> = {}): Omit<User, 'id'> {
  count += 1
  const fields: Required<Omit<User, 'id'>> = {
    name: `User ${count}`,
    email: `user-${count}@example.com`,
  }
  return { ...fields, ...overrides }
}

/** A user with an id. */
export const user = (more: Partial<User> = {}): User => ({ id: newUserId(), ...newUser(), ...more })

type Any = any // eslint-disable-line -- parts of the contract

const { components }: Any = contract.contents().document
/** The fields that can be any text: not the id, and no enum. */
export const FREE_TEXTS = Object.entries<Any>(components.schemas.User.properties).flatMap(
  ([field, { type, enum: values }]) =>
    field !== 'id' && type === 'string' && !values ? [field] : [],
)
