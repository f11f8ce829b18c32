// No request without a valid token reaches an operation under /users. (Which headers and tokens are valid:
// tokens.test.ts; which paths are protected: also chassis/contract/router.test.ts.)
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { CALLER, PROTECTED } from '../../src/auth/guard.ts'
import type { UserStore } from '../../src/store/user-store.ts'
import { contract } from '../support/service.ts'
import { forged } from '../chassis/support/forged.ts'
import { rounds } from '../support/rounds.ts'
import { SECRET, tokens } from '../chassis/support/requests.ts'
import { createTokens } from '../chassis/support/internals.ts'
import { useService } from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'

const opened = useStore(sqlitePlace)
let storeCalls = 0

/** The store, counting its calls. */
const counting = (): UserStore =>
  new Proxy(opened(), {
    get: (store, name) => {
      storeCalls += 1
      return store[name as keyof UserStore]
    },
  })
const service = useService(counting)

const ID = '665f1c2e8b3f4a0012d4c001'
const VALID = `Bearer ${tokens.issue(ID)}`
const [EXPIRED, ...OTHERS] = [createTokens([SECRET], -1).issue(ID)].concat(
  ['ada@example.com', 'ada', `${ID}0`, ''].map(tokens.issue),
)
const [, TOKEN = ''] = VALID.split(' ')

test.each([
  ['/users', VALID, 'private, no-cache', { [CALLER]: ID }],
  ['/users', `Bearer ${EXPIRED}`, 'private, no-cache', { refused: 'expired', [CALLER]: ID }],
  ...OTHERS.map(
    (token) => ['/users', `Bearer ${token}`, 'private, no-cache', { [CALLER]: '…' }] as const,
  ),
  ['/users', undefined, 'private, no-cache', { refused: 'missing', operation: 'none' }],
  ['/users', 'Bearer x', 'private, no-cache', { refused: 'invalid', operation: 'none' }],
  ['/api/users/x', undefined, 'private, no-cache', { refused: 'missing', status: 401 }],
  ['/nothing?/users', undefined, 'no-store', { status: 404 }],
])(
  '%s with the token %s: no cache keeps a user, and the log says who asked',
  async (path, authorization, control, line) => {
    const { headers } = await service().send(`GET ${path}`, { authorization })
    expect(headers['cache-control']).toBe(control)
    expect(service().lines.at(-1)).toMatchObject(line)
  },
)

test('the guard protects exactly the operations that need a token by the contract', () => {
  for (const [path, item] of Object.entries<object>(contract.paths)) {
    for (const operation of Object.values(item) as { operationId?: string; security?: [] }[]) {
      if (!operation.operationId) continue
      const expected = PROTECTED.test(path) ? [{ bearer: [] }] : []
      expect([path, operation.security]).toEqual([path, expected])
    }
  }
})

describe('generated requests', () => {
  const encoded = 'users'.replace(/./, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  const names = ['/users', 'users', '/USERS', `/${encoded}`, `/${encoded.replace('%', '%25')}`]
  const between = [
    '/',
    '//',
    '\\',
    '%2f',
    '/.',
    '/..',
    '/..;',
    '/docs',
    '/665f1c2e8b3f4a0012d4c001',
  ]
  const starts = ['http://example.com', 'https://me@example.com:1', '//x.com']
  const ends = ['.json', ';x=1', '?x', '#x', '%00', '%20', '\u00ff']
  const visible = fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c))
  const part = fc.oneof(
    fc.constantFrom(...names),
    fc.constantFrom(...between, ...starts, ...ends),
    fc.string({ unit: visible, minLength: 1 }),
  )
  const target = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))
  const method = fc.constantFrom('GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'OPTIONS', 'PATCH')

  const invalid = Object.values(forged).map((token) => [`Bearer ${token}`])
  /** No header, one that is invalid, or two, which can be valid. */
  const headers = fc.constantFrom<string[]>([], [TOKEN], [VALID, VALID], ...invalid)

  type Request = [method: string, target: string, headers: string[]]
  /** Sends a request as the only one on its connection. */
  async function exchange([method, target, headers]: Request): Promise<void> {
    const fields = [
      'Host: localhost',
      'Connection: close',
      ...headers.map((one) => `Authorization: ${one}`),
    ]
    const request = `${method} ${target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`
    expect(await service().exchange(Buffer.from(request, 'latin1'))).toMatch(/^HTTP\/1.1 \d/)
  }

  async function storeCallsOf(requests: Request[]): Promise<number> {
    storeCalls = 0
    await Promise.all(requests.map(exchange))
    return storeCalls
  }

  // SECURITY.md: Only a request with a valid token reaches a user.
  test('without a valid token never reach a users operation, whatever the path, method and headers', async () => {
    const length = { minLength: 150, maxLength: 250 }
    const requests = fc.array(fc.tuple(method, target, headers), length)
    const property = fc.asyncProperty(requests, async (requests) => {
      expect(await storeCallsOf(requests)).toBe(0)
    })
    await fc.assert(property, { numRuns: rounds(3, 560) })
  })

  test('with a valid token do, but not with two', async () => {
    expect(await storeCallsOf([['GET', '/users', [VALID]]])).toBe(1)
    const target = 'http://example.com/users?email=x'
    expect(await storeCallsOf([['GET', target, [VALID]]])).toBe(1)
    expect(await storeCallsOf([['GET', target, [VALID, VALID]]])).toBe(0)
  })
})
