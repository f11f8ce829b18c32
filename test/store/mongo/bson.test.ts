// Users read from BSON, by the reader here and by the driver's: nobody sees which of them it was.
import { expect, test } from '@jest/globals'
import { BSON, ObjectId } from 'mongodb'
import { readUser } from '../../../src/store/mongo/bson.ts'

const ID = '665f1c2e8b3f4a0012d4c001'
const _id = ObjectId.createFromHexString(ID)
const read = (document: object) => readUser(Buffer.from(BSON.serialize(document)))

test.each<[string, object, object]>([
  ['in any order', { email: 'a@x', name: 'Ada', _id }, { name: 'Ada', email: 'a@x' }],
  ['empty', { _id, name: '', email: '' }, { name: '', email: '' }],
  ['with a NUL', { _id, name: 'a\0b', email: '\0' }, { name: 'a\0b', email: '\0' }],
  ['of all of Unicode', { _id, name: '\u00e9\u{1F600}' }, { name: '\u00e9\u{1F600}', email: '' }],
  ['beside another text', { _id, name: 'Ada', title: 'Countess' }, { name: 'Ada', email: '' }],
  ['beside another id', { _id, ref: new ObjectId(), name: 'Ada' }, { name: 'Ada', email: '' }],
  ['beside no name', { _id, age: 36, email: 'a@x' }, { name: '', email: 'a@x' }],
])('reads texts %s', (_, document, texts) => {
  expect(read(document)).toEqual({ id: ID, ...texts })
})

test('reads an id that is a text', () => {
  expect(read({ _id: ID, name: 'Ada' })).toEqual({ id: ID, name: 'Ada', email: '' })
})

test('a name that is no text leaves the rest of the user as it is', () => {
  for (const name of [7, 7.5, null, _id, ['x'], { x: 1 }]) {
    expect(read({ _id, name, email: 'a@x' })).toMatchObject({ id: ID, email: 'a@x' })
  }
})

test('reads bytes that are no UTF-8 as the replacement character, whatever is beside them', () => {
  for (const document of [
    { _id, name: 'Ada' },
    { _id, name: 'Ada', age: 36 },
  ]) {
    const bytes = Buffer.from(BSON.serialize(document))
    bytes[bytes.indexOf('Ada')] = 0xff
    expect(readUser(bytes)).toEqual({ id: ID, name: '\uFFFDda', email: '' })
  }
})
