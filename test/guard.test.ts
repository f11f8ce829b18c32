// Nobody without a valid token reaches an operation under /users.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import jwt from 'jsonwebtoken'
import { contract } from '../src/contract/contract.ts'
import { PROTECTED } from '../src/guard.ts'
import type { UserStore } from '../src/store/user-store.ts'
import { createTokens } from '../src/tokens.ts'
import { expectContract } from './support/contract.ts'
import { parseAnswers, tokens, useService } from './support/service.ts'
import { SECRET, sqlitePlace, useStore } from './support/stores.ts'

const opened = useStore(sqlitePlace)
let touched = 0

/** The store, counting what is asked of it. */
const counting = (): UserStore =>
  new Proxy(opened(), {
    get: (store, name) => {
      touched += 1
      return store[name as keyof UserStore]
    },
  })
const service = useService(counting)

const VALID = `Bearer ${tokens.issue('665f1c2e8b3f4a0012d4c001')}`
const [, TOKEN = ''] = VALID.split(' ')

describe('a refused request', () => {
  test.each<[string, string | undefined]>([
    ['no header', undefined],
    ['an empty header', ''],
    ['only a scheme', 'Bearer'],
    ['only a scheme and a space', 'Bearer '],
    ['only a token', TOKEN],
    ['another scheme', `Basic ${TOKEN}`],
    ['another scheme first', `Basic x, Bearer ${TOKEN}`],
    ['no space', `Bearer${TOKEN}`],
    ['a colon', `Bearer: ${TOKEN}`],
    ['no token', 'Bearer x'],
    ['a token and more', `${VALID} x`],
    ['a quoted token', `Bearer "${TOKEN}"`],
  ])('has %s, and gets 401 with a challenge and a message', async (_, authorization) => {
    const { status, headers, json } = await service().send('GET /users', { authorization })
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer'])
    expect(json).toEqual({ message: 'a valid bearer token is required' })
  })
})

test.each(['bearer', 'BEARER', 'bEaReR'])('the scheme may be spelled %s', async (scheme) => {
  const { status } = await service().send('GET /users', { authorization: `${scheme} \t ${TOKEN}` })
  expect(status).toBe(200)
})

test('the guard lets pass without asking the store, and refuses without reading the body', async () => {
  touched = 0
  const refused = await service().send('POST /users', {
    authorization: 'Bearer x',
    body: 'no JSON',
  })
  expect([refused.status, touched]).toEqual([401, 0])
  await service().send('PATCH /users')
  expect(touched).toBe(0)
})

test('the guard protects just the operations that the contract says need a token', () => {
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const operation of Object.values(item) as { operationId?: string; security?: [] }[]) {
      if (!operation.operationId) continue
      expect([path, operation.security]).toEqual([
        path,
        PROTECTED.test(path) ? [{ bearer: [] }] : [],
      ])
    }
  }
})

describe('for thousands of spellings', () => {
  const encode = (text: string) => text.replaceAll(/./g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  const seed = fc.constantFrom('/users', '/users/665f1c2e8b3f4a0012d4c001', '/login', '/')
  const alter = fc.constantFrom<(path: string) => string>(
    (path) => path,
    (path) => path.toUpperCase(),
    (path) => path.replace('u', 'U'),
    (path) => path.replace('s', '%73'),
    (path) => path.replace('u', '%2575'),
    (path) => `/${encode(path.slice(1))}`,
    (path) => path.replaceAll('/', '%2f'),
    (path) => path.replaceAll('/', '//'),
    (path) => path.replaceAll('/', '\\'),
    (path) => path.replaceAll('/', '/./'),
    (path) => `/x/..${path}`,
    (path) => `/..;${path}`,
    (path) => `${path}/`,
    (path) => `${path}.json`,
    (path) => `${path};x=1`,
    (path) => `${path}?x`,
    (path) => `${path}#x`,
    (path) => `${path}%00`,
    (path) => `${path}%20`,
    (path) => `http://example.com${path}`,
    (path) => `https://user@example.com:1${path}`,
    (path) => `//example.com${path}`,
    (path) => path.slice(1),
    (path) => path.replace('users', 'u\u00ffsers'),
  )
  const printable = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
  })
  const target = fc
    .tuple(seed, fc.array(alter, { maxLength: 4 }), fc.option(printable))
    .map(
      ([path, alters, suffix]) =>
        alters.reduce<string>((at, change) => change(at), path) + (suffix ?? ''),
    )
    .filter((path) => path !== '')
  const method = fc.constantFrom(
    'GET',
    'HEAD',
    'PUT',
    'DELETE',
    'POST',
    'OPTIONS',
    'PATCH',
    'TRACE',
  )

  const sign = (claims: object, key: jwt.Secret, options?: jwt.SignOptions) =>
    `Bearer ${jwt.sign(claims, key, options)}`
  const forged = fc.constantFrom(
    sign({ id: 'x' }, `${SECRET}.`),
    sign({ id: 'x' }, SECRET, { algorithm: 'HS512' }),
    sign({ id: 'x' }, SECRET, { expiresIn: -1 }),
    sign({ id: 'x' }, SECRET, { notBefore: 60 }),
    sign({ id: 'x' }, '', { algorithm: 'none' }),
    `${VALID.slice(0, VALID.lastIndexOf('.'))}.`,
    `Basic ${TOKEN}`,
    TOKEN,
  )
  const header = fc.option(
    fc.oneof(
      forged,
      printable.map((text) => `Bearer ${text}`),
      printable,
    ),
  )
  const line = (method: string, target: string, authorization: string | null) =>
    `${method} ${target} HTTP/1.1\r\nHost: x\r\n${authorization === null ? '' : `Authorization: ${authorization}\r\n`}`

  let answered = 0

  /** Sends the requests, pipelined, on as many connections as it takes; how often they touched the store. */
  async function touches(requests: [string, string, string | null][]): Promise<number> {
    touched = 0
    for (let rest = requests; rest.length > 0;) {
      const last = 'GET /done HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
      const bytes = Buffer.from(rest.map((r) => `${line(...r)}\r\n`).join('') + last, 'latin1')
      const answers = parseAnswers(await service().exchange(bytes))
      expect(answers.length).toBeGreaterThan(0)
      rest.slice(0, answers.length).forEach(([method, target], i) => {
        const answer = answers[i]!
        if (answer.status === 400)
          expectContract('', '', answer) // the parser's
        else if (answer.status !== 200) expectContract(method, target, answer)
      })
      answered += Math.min(answers.length, rest.length)
      rest = rest.slice(answers.length)
    }
    return touched
  }

  test('of path, method and header no request without a valid token runs a users operation', async () => {
    const batch = fc.array(fc.tuple(method, target, header), { minLength: 20, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(batch, async (requests) => expect(await touches(requests)).toBe(0)),
      { numRuns: 400 },
    )
    expect(answered).toBeGreaterThan(10_000)
  }, 120_000)

  test('which would be seen: with a valid token they do', async () => {
    expect(await touches([['GET', '/users', VALID]])).toBe(1)
    expect(await touches([['GET', 'http://example.com/users?x', VALID]])).toBe(1)
  })
})

test('a token of another secret is refused, and one of the same secret is taken', async () => {
  const other = createTokens([`${SECRET}, but another`], 60).issue('x')
  const same = createTokens([SECRET], 60).issue('x')
  expect((await service().send('GET /users', { authorization: `Bearer ${other}` })).status).toBe(
    401,
  )
  expect((await service().send('GET /users', { authorization: `Bearer ${same}` })).status).toBe(200)
})
