// Users as documents of MongoDB. Other programs may have stored values of other types: numbers and booleans are read as
// text, absent and null as the empty text. Anything else fails the calls that need this user, and no others.
import { isUtf8 } from 'node:buffer'
import { BSON, ObjectId } from 'mongodb'
import { StoreFailure } from '../../chassis/index.ts'
import { NOT_TEXT, type User } from '../user-store.ts'

/** A user as the service stores it: without an empty email, which a sparse index would count. */
export const toDocument = ({ id, email, ...fields }: User) => {
  return { _id: toObjectId(id), ...fields, ...(email !== '' && { email }) }
}

export const toObjectId = (id: string): ObjectId => ObjectId.createFromHexString(id)

const TYPES = BSON.BSONType

const text = (value: Value) => String(value ?? '')

/** How each field of a user is read from its value in MongoDB, which is null if it is absent. Undefined: it cannot be read. */
const FIELDS: { [N in Name]: (value: Value) => User[N] | undefined } = { name: text, email: text }

type Name = Exclude<keyof User, 'id'>
const NAMES = Object.keys(FIELDS) as Name[]

/** Without it, a filter also finds an array that has such an item. */
const NO_ARRAY = { $not: { $type: 'array' } }

/** Matches documents whose fields have types that can be read: of others, nothing is changed. */
export const READABLE = {
  $and: NAMES.map((field) => ({
    [field]: NO_ARRAY,
    $or: [{ [field]: { $type: ['string', 'number', 'bool'] } }, { [field]: null }],
  })),
}

const projection = Object.fromEntries(['_id', ...NAMES].map((name) => [name, 1]))
/** How to find documents: as bytes, and without fields of other programs, which can be of any size. */
export const AS_BYTES = { raw: true, projection } as const

/** The fields of a document, each with its type (https://bsonspec.org/spec.html) and where its bytes are. */
export type Fields = Partial<Record<string, Field>>
type Field = { type: number; document: Buffer; start: number; end: number }

/**
 * Reads a document without making objects of it: an array can take many times its size, and JavaScript cannot hold every
 * regular expression of MongoDB. The driver calls `BSON.onDemand` experimental: it was tested with mongodb 7.9.0. In a
 * version without it, this does not compile; `users.find()` without `raw` would be the way, within those two limits.
 */
export function fieldsOf(document: Buffer): Fields {
  const fields: Fields = {}
  for (const element of BSON.onDemand.parseToElements(document)) {
    const [type, nameOffset, nameLength, offset, length] = element
    const name = document.toString('latin1', nameOffset, nameOffset + nameLength)
    fields[name] = { type, document, start: offset, end: offset + length }
  }
  return fields
}

/** @throws StoreFailure a field cannot be read */
export function userOf(fields: Fields): User {
  const read = <N extends Name>(name: N): User[N] =>
    FIELDS[name](valueOf(fields, name)) ?? refuse(fields, name)
  return { id: idOf(fields), name: read('name'), email: read('email') }
}

/** @throws StoreFailure the `_id` is not an ObjectId: the service could not list the user in order */
export function idOf({ _id }: Fields): string {
  if (_id?.type === TYPES.objectId) return _id.document.toString('hex', _id.start, _id.end)
  const cause = new Error(`a document has one of type ${nameOf(_id?.type)}. ${ONLY_OBJECT_IDS}`)
  throw new StoreFailure(cause, 'use the collection users', 'an _id is not an ObjectId')
}

const ONLY_OBJECT_IDS =
  'The service has only users whose _id is an ObjectId: replace such documents, or use another database'

/** Matches a document whose fields have not changed since. They are compared as they are stored, perhaps not as text. */
export const asStored = (fields: Fields) =>
  Object.fromEntries(NAMES.map((name) => [name, { $eq: valueOf(fields, name), ...NO_ARRAY }]))

/** The email, if it is text. */
export const emailOf = ({ email }: Fields): string | undefined =>
  email?.type === TYPES.string ? textIn(email) : undefined

/** The value of a field; null if there is none. @throws StoreFailure no field has a value of this type */
function valueOf(fields: Fields, name: Name): Value {
  const field = fields[name]
  const value = field ? VALUES[field.type]?.(field) : null
  return value === undefined ? refuse(fields, name) : value
}

/** @throws StoreFailure */
function refuse(fields: Fields, name: Name): never {
  const cause = new Error(`its ${name}, of type ${nameOf(fields[name]?.type)}, cannot be read`)
  throw new StoreFailure(cause, `read the user ${idOf(fields)}`, NOT_TEXT)
}

type Value = string | number | bigint | boolean | BSON.Decimal128 | null

/** By type, the value in the bytes of a field. */
const VALUES: Partial<Record<number, (field: Field) => Value | undefined>> = {
  [TYPES.string]: textIn,
  [TYPES.null]: () => null,
  [TYPES.int]: ({ document, start }) => document.readInt32LE(start),
  [TYPES.long]: ({ document, start }) => document.readBigInt64LE(start),
  [TYPES.double]: ({ document, start }) => document.readDoubleLE(start),
  [TYPES.decimal]: ({ document, start, end }) => new BSON.Decimal128(document.subarray(start, end)),
  [TYPES.bool]: ({ document, start }) => document[start] === 1,
}

/**
 * The text of a BSON string, between its length and a zero byte; undefined if it is not UTF-8. Without a `subarray` for
 * each text, a list takes a tenth less time.
 */
function textIn({ document, start, end }: Field): string | undefined {
  const text = document.toString('utf8', start + 4, end - 1)
  const isBroken = text.includes('\ufffd') && !isUtf8(document.subarray(start + 4, end - 1))
  return isBroken ? undefined : text
}

const nameOf = (type: number | undefined): string =>
  Object.entries(TYPES).find(([, code]) => code === type)?.[0] ?? String(type)
