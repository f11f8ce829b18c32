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
  ['connection refused', selection(['Unknown'], network)],
  ['connection closed', new mongodb.MongoNetworkError('connection 1 closed')],
  ['connection closed', failure('read', 'ECONNRESET')],
  ['no response', failure('connect', 'EHOSTUNREACH')],
  ['unknown host', failure('queryTxt', 'ETIMEOUT')],
  ['authentication failed', refusal(18)],
  ['refused by Atlas', refusal(8000, 'AtlasError')],
  ['Unauthorized', refusal(13)],
  ['DuplicateKey', refusal(11_000)],
  ['retryable writes are not supported', refusal(301)],
  ['TooManyRequests', refusal(16_500)],
  ['ExceededTimeLimit', refusal(262, 'ExceededTimeLimit')],
  ['TLS refused', new mongodb.MongoNetworkError('no', { cause: failure('', 'CERT_HAS_EXPIRED') })],
  ['TLS refused', failure('connect', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
  ['TLS refused', failure('write', 'ERR_SSL_WRONG_VERSION_NUMBER')],
  ['ENOENT', failure('open', 'ENOENT')],
  ['MongoParseError', new mongodb.MongoParseError('no')],
])('%s: %s', (kind, error) => expect(kindOf(error)).toBe(kind))
