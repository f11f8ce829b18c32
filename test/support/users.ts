// The users that tests create. A new field of `User` is given here, with a value that is not its default, and in no other test.
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

const { components, paths }: Any = contract.contents().document
const properties: Any = components.schemas.User.properties
/** The fields of a new user that can be any text: no enum. */
export const FREE_TEXTS = Object.keys(newUser()).filter(
  (field) => properties[field].type === 'string' && !properties[field].enum,
)

/** The fields that a list can be filtered by; none but `email` ever means no user by its default. */
export const FILTERS: (keyof User)[] = paths['/users'].get.parameters
  .map(({ name }: Any) => name)
  .filter((name: string) => name in properties && name !== 'email')
