// The user in a row, by the rules that every row must obey. Rows of export-users come back exactly.
import { validator } from '../../../src/chassis/programs.ts'
import { contract } from '../../../src/contract.ts'
import type { components } from '../../../src/openapi.ts'
import { isUserId } from '../../../src/store/user-id.ts'
import type { NewUser, User } from '../../../src/store/user-store.ts'
import { newUser } from '../../../src/users.ts'
import type { Row } from './lines.ts'

/** A user to store, and the fields that its row has: others are not compared with those of a stored user. */
export interface UserInRow {
  user: NewUser
  given: Partial<NewUser>
}

const validate = validator(contract.operationOf('createUser'))

/**
 * @param newIds whether the ids in the file are ignored
 * @param write writes a user as export-users does
 * @throws Error the row is refused
 */
export function userIn(row: Row, newIds: boolean, write: (user: User) => string): UserInRow {
  if (!row.fields) throw new Error(row.problem)
  const { id = '', ...texts } = row.fields()
  const fields = validate({ ...texts }) as components['schemas']['UserFields']
  const user = { ...newUser(fields), ...texts } // `validate` takes away what only the service sets
  const hasId = id !== '' && !newIds
  if (hasId && !isUserId(id)) throw new Error(INVALID_ID)
  if (!hasId && !user.email) throw new Error(NOT_UNIQUE)
  const problem = row.problem ?? problemOf(user)
  const isExported = () => isUserId(id) && write({ id, ...user }).trimEnd() === row.text.trimEnd()
  if (problem && !isExported()) throw new Error(problem)
  return hasId ? { user: { id, ...user }, given: { id, ...texts } } : { user, given: texts }
}

const INVALID_ID = 'its id is not 24 lower-case hexadecimal digits: --new-ids ignores the ids'
const NOT_UNIQUE = 'it has neither an email nor an id: the next import would store it again'

function problemOf(user: NewUser): string | undefined {
  const broken = Object.entries(user).find(([, text]) => /[\r\n]/.test(text))
  if (broken) return `its ${broken[0]} has a line break`
  const isPlain = !INVISIBLE.test(user.email) && ADDRESS.test(user.email.normalize('NFKC'))
  return user.email && !isPlain ? 'its email is not one plain address' : undefined
}

const INVISIBLE = /[\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u
/** Without what RFC 5322 (3.2.3) allows only in quotes. */
const ADDRESS = /^[^()<>[\]:;@\\,"]+@[\p{L}\p{N}\p{M}._-]+$/u
