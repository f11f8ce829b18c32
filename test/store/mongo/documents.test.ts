// What the service reads of a document of any program. (On a server: collection.test.ts.)
import { expect, test } from '@jest/globals'
import { BSON, ObjectId } from 'mongodb'
import { asStored, fieldsOf, READABLE, userOf } from '../../../src/store/mongo/documents.ts'
import { newUser } from '../../support/users.ts'

const ID = '665f1c2e8b3f4a0012d4c001'

/** The user in a document with this name. */
const read = (name: unknown) =>
  userOf(fieldsOf(Buffer.from(BSON.serialize({ _id: new ObjectId(ID), name }))))

const REPLACED = '\uFFFD'.repeat(60) // what U+FFFD stands for was lost elsewhere; its length is no UTF-8

test.each<[unknown, string, type?: string]>([
  ['\u0000\u{1F600}', '\u0000\u{1F600}', 'string'],
  [REPLACED, REPLACED, 'string'],
  [null, ''],
  [42, '42', 'number'],
  [4.5, '4.5', 'number'],
  [true, 'true', 'bool'],
  [BSON.Long.fromString('-9007199254740993'), '-9007199254740993', 'number'],
  [BSON.Decimal128.fromString('1.10'), '1.10', 'number'],
])(
  'a name that is %p is read as %p, and such a user can be changed',
  (name, text, type = 'null') => {
    expect(read(name)).toMatchObject({ id: ID, name: text, email: '' })
    expect(JSON.stringify(READABLE)).toContain(type)
  },
)

test.each<[string, unknown]>([
  ['object', { given: 'Ada' }],
  ['array', ['Ada']],
  ['binData', new BSON.Binary(Buffer.from('Ada'))],
  ['objectId', new ObjectId()],
  ['date', new Date(0)],
  ['regex', /Ada/],
  ['timestamp', new BSON.Timestamp(0n)],
])(
  'a name of type %s is refused and never changed, and the error names the user, the field and the type',
  (type, name) => {
    expect(JSON.stringify(READABLE.$and.map(({ $or }) => $or))).not.toContain(type)
    const message = `cannot read the user ${ID}: a field is not text: its name, of type ${type}, cannot be read`
    expect(() => read(name)).toThrow(message)
  },
)

test('a field that is an array is never changed, whatever its items', () => {
  const stored = asStored(fieldsOf(Buffer.from(BSON.serialize({ name: 'Ada' }))))
  for (const field of Object.keys(newUser())) {
    const noArray = { [field]: expect.objectContaining({ $not: { $type: 'array' } }) }
    expect(READABLE.$and).toContainEqual(expect.objectContaining(noArray))
    expect(stored).toMatchObject(noArray)
  }
})

test('a name that is not UTF-8 is refused', () => {
  const bytes = Buffer.from(BSON.serialize({ _id: new ObjectId(ID), name: 'Ada' }))
  bytes[bytes.indexOf('Ada')] = 0xff
  expect(() => userOf(fieldsOf(bytes))).toThrow('its name, of type string, cannot be read')
})
