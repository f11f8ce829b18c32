// What the service reads of a document of any program. (On a server: collection.test.ts.)
import { expect, test } from '@jest/globals'
import { BSON, ObjectId } from 'mongodb'
import { fieldsOf, READABLE, userOf } from '../../../src/store/mongo/documents.ts'

const ID = '665f1c2e8b3f4a0012d4c001'

/** The user in a document with this name. */
const read = (name: unknown) =>
  userOf(fieldsOf(Buffer.from(BSON.serialize({ _id: new ObjectId(ID), name }))))

test.each<[unknown, string]>([
  ['\u0000\u{1F600}', '\u0000\u{1F600}'],
  [null, ''],
  [42, '42'],
  [4.5, '4.5'],
  [true, 'true'],
  [BSON.Long.fromString('-9007199254740993'), '-9007199254740993'],
  [BSON.Decimal128.fromString('1.10'), '1.10'],
])('a name that is %p is read as %p', (name, text) => {
  expect(read(name)).toMatchObject({ id: ID, name: text, email: '' })
})

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
    expect(JSON.stringify(READABLE)).not.toContain(type)
    const message = `cannot read the user ${ID}: a field is not text: its name, of type ${type}, cannot be read`
    expect(() => read(name)).toThrow(message)
  },
)

test('a name that is not UTF-8 is refused', () => {
  const bytes = Buffer.from(BSON.serialize({ _id: new ObjectId(ID), name: 'Ada' }))
  bytes[bytes.indexOf('Ada')] = 0xff
  expect(() => userOf(fieldsOf(bytes))).toThrow('its name, of type string, cannot be read')
})
