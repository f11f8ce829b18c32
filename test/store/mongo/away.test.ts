// Which errors of the driver may pass: those that no server here gives. (The rest: unreachable.test.ts.)
import { expect, test } from '@jest/globals'
import { MongoParseError, MongoServerError, MongoTopologyClosedError } from 'mongodb'
import { isAway } from '../../../src/store/mongo/away.ts'

const refusal = (code: number) => new MongoServerError({ code, errmsg: 'no' })
const failure = (syscall: string, code: string) => Object.assign(new Error(), { syscall, code })

test.each([
  ['a primary that stepped down', true, refusal(189)],
  ['a server that is no primary', true, refusal(10_107)],
  ['a server that shuts down', true, refusal(91)],
  ['wrong credentials', false, refusal(18)],
  ['a missing right', false, refusal(13)],
  ['a name without an SRV record', true, failure('querySrv', 'ENODATA')],
  ['a DNS server that does not respond', true, failure('queryTxt', 'ETIMEOUT')],
  ['a CA file that is not there', false, failure('open', 'ENOENT')],
  ['an SRV record with wrong options', false, new MongoParseError('no')],
  ['a client that failed to connect', true, new MongoTopologyClosedError()],
])('%s may pass: %s', (_, expected, error) => {
  expect(isAway(error)).toBe(expected)
})
