// Reads a user from its BSON document (https://bsonspec.org/spec.html), at a fraction of the cost of the
// driver's general reader. Knows ObjectIds and texts; for all else it asks that reader.
import { BSON } from 'mongodb'
import type { User } from '../user-store.ts'

const END = 0x00
const TEXT = 0x02
const OBJECT_ID = 0x07

/** The user in a document of which the driver has not made an object (`raw: true`). */
export function readUser(document: Buffer): User {
  const user: User = { id: '', name: '', email: '' }
  for (let at = 4; document[at] !== END;) {
    const type = document[at]
    const value = document.indexOf(0, at + 1) + 1
    const field = document.toString('latin1', at + 1, value - 1)
    if (type === OBJECT_ID && field === '_id') {
      at = value + 12
      user.id = document.toString('hex', value, at)
    } else if (type === TEXT && (field === 'name' || field === 'email')) {
      at = value + 4 + document.readInt32LE(value)
      user[field] = document.toString('utf8', value + 4, at - 1)
    } else {
      return fromObject(BSON.deserialize(document, { validation: { utf8: false } }))
    }
  }
  return user
}

/** What others have put into a document besides makes no difference. */
const fromObject = ({ _id, name = '', email = '' }: BSON.Document): User => ({
  id: String(_id),
  name,
  email,
})
