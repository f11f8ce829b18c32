// A user's JSON text straight from its BSON document (https://bsonspec.org/spec.html), so that a list
// does not make an object of each user. Knows ObjectIds and texts; what else is there, it leaves.

const END = 0x00
const TEXT = 0x02
const OBJECT_ID = 0x07

/** @returns undefined when the document has a field of another kind, or lacks one of the first two */
export function userJson(document: Buffer): string | undefined {
  let id: string | undefined
  let name: string | undefined
  let email = '""'
  for (let at = 4; document[at] !== END;) {
    const type = document[at]
    const value = document.indexOf(0, at + 1) + 1
    const field = document.toString('latin1', at + 1, value - 1)
    if (type === OBJECT_ID && field === '_id') {
      at = value + 12
      id = document.toString('hex', value, at)
    } else if (type === TEXT) {
      at = value + 4 + document.readInt32LE(value)
      const text = JSON.stringify(document.toString('utf8', value + 4, at - 1))
      if (field === 'name') name = text
      else if (field === 'email') email = text
      else return undefined
    } else {
      return undefined
    }
  }
  return id && name && `{"id":"${id}","name":${name},"email":${email}}`
}
