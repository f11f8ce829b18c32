// The kinds of failures that no server here causes. (The rest: unreachable.test.ts.)
import { expect, test } from '@jest/globals'
import * as mongodb from 'mongodb'
import { kindOf } from '../../../src/store/mongo/failure-kinds.ts'

const refusal = (code: number, codeName?: string) =>
  new mongodb.MongoServerError({ code, ...(codeName && { codeName }), errmsg: 'no' })
const failure = (syscall: string, code: string) => Object.assign(new Error(), { syscall, code })
/** The driver's error when it finds no primary: `types` are those of the servers that it has seen. */
const selection = (types: string[], error?: Error) => {
  const servers = new Map(types.map((type, i) => [`host${i}`, { type }]))
  return new mongodb.MongoServerSelectionError('no', { servers, setName: 'rs0', error } as never)
}
const refused = failure('connect', 'ECONNREFUSED')
const network = new mongodb.MongoNetworkError('no', { cause: refused })

test.each([
  ['no primary', selection(['Unknown', 'RSSecondary'], refused)],
  ['replica set not found', selection([])],
  ['ECONNREFUSED', selection(['Unknown'], network)],
  ['EAI_AGAIN', failure('getaddrinfo', 'EAI_AGAIN')],
  ['MongoNetworkError', new mongodb.MongoNetworkError('connection 1 closed')],
  ['MongoServerError 18', refusal(18)],
  ['AtlasError', refusal(8000, 'AtlasError')],
  ['MongoParseError', new mongodb.MongoParseError('no')],
])('%s: %s', (kind, error) => expect(kindOf(error)).toBe(kind))
