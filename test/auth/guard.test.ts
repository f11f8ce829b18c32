// Nobody without a valid token reaches an operation under /users.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import jwt from 'jsonwebtoken'
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { contract } from '../../src/contract/document.ts'
import { PROTECTED } from '../../src/auth/guard.ts'
import type { UserStore } from '../../src/store/user-store.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { times } from '../support/chaos.ts'
import { expectContract } from '../support/contract.ts'
import { parseAnswers, tokens, useService } from '../support/service.ts'
import { SECRET, sqlitePlace, useStore } from '../support/stores.ts'

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

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const PUBLIC_KEY = createPublicKey(RSA).export({ format: 'pem', type: 'spki' }).toString()

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

test.each<[string, string[]]>([
  ['an invalid one first', ['Bearer x', VALID]],
  ['an invalid one last', [VALID, 'Bearer x']],
  ['an empty one', [VALID, '']],
  ['the same twice', [VALID, VALID]],
])('of several Authorization headers none is taken: %s', async (_, authorization) => {
  const headers = { Authorization: authorization }
  const answer = await service().send('GET /users', { authorization: undefined, headers })
  expect(answer.status).toBe(401)
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

describe('for a hundred thousand spellings', () => {
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
  /** A header of a token, and what goes with it, which says how it wants to be read. */
  const asking = (header: object, payload = '{"id":"x"}', key = `${SECRET}.`) => {
    const encoded = (text: string) => Buffer.from(text).toString('base64url')
    const parts = `${encoded(JSON.stringify(header))}.${encoded(payload)}`
    const signature = createHmac('sha256', key).update(parts).digest('base64url')
    return `Bearer ${parts}.${signature}`
  }
  const HS256 = { alg: 'HS256', typ: 'JWT' }
  const forged = fc.constantFrom(
    ...['none', 'None', 'hs256', 'HS256 ', 'HS1', '', null, 0, ['HS256']].map((alg) =>
      asking({ alg }, undefined, SECRET),
    ),
    asking({ ...HS256, jwk: { kty: 'oct', k: Buffer.from(`${SECRET}.`).toString('base64url') } }),
    asking({ ...HS256, jku: 'http://127.0.0.1/keys', kid: '1' }),
    asking({ ...HS256, kid: '../../../dev/null' }, undefined, ''),
    asking({ ...HS256, crit: ['b64'], b64: false }, undefined, SECRET),
    asking({ ...HS256, crit: ['exp'] }, undefined, SECRET),
    asking({ ...HS256, crit: [] }, undefined, SECRET),
    asking(HS256, undefined, PUBLIC_KEY),
    ...['{}', '{"id":"x","exp":"1"}', '{"exp":1}', '{"nbf":9999999999}', '', 'null', '"x"'].map(
      (payload) => asking(HS256, payload, payload === '{}' ? `${SECRET}.` : SECRET),
    ),
    sign({ id: 'x' }, RSA, { algorithm: 'RS256' }),
    sign({ id: 'x' }, RSA, { algorithm: 'PS256' }),
    sign({ id: 'x' }, EC, { algorithm: 'ES256' }),
    sign({ id: 'x' }, `${SECRET}.`),
    sign({ id: 'x' }, SECRET, { algorithm: 'HS512' }),
    sign({ id: 'x' }, SECRET, { expiresIn: -1 }),
    sign({ id: 'x' }, SECRET, { notBefore: 3_600 }),
    sign({ id: 'x' }, '', { algorithm: 'none' }),
    `${VALID.slice(0, VALID.lastIndexOf('.'))}.`,
    `Basic ${TOKEN}`,
    TOKEN,
  )
  /** A valid header with one character more, fewer, or another. */
  const altered = fc
    .tuple(
      fc.nat(VALID.length - 1),
      fc.constantFrom('', '.', '=', '-', 'A', 'z', ' ', '\t', '\u00ff'),
    )
    .map(([at, other]) => VALID.slice(0, at) + other + VALID.slice(at + 1))
    .filter((header) => !/^bearer\s+(.*)/i.exec(header)?.[1]?.startsWith(TOKEN))
  const header = fc.oneof(
    { weight: 3, arbitrary: forged },
    printable.map((text) => `Bearer ${text}`),
    printable,
    { weight: 3, arbitrary: altered },
  )
  /** None; one that is not valid; or several, which may be. */
  const headers = fc.oneof(
    { weight: 1, arbitrary: fc.constant<string[]>([]) },
    { weight: 8, arbitrary: header.map((one) => [one]) },
    {
      weight: 2,
      arbitrary: fc.array(fc.oneof(header, fc.constant(VALID)), { minLength: 2, maxLength: 4 }),
    },
  )
  const name = fc.constantFrom('Authorization', 'authorization', 'AUTHORIZATION', 'authorizatioN')
  const line = (method: string, target: string, headers: string[], name = 'Authorization') =>
    `${method} ${target} HTTP/1.1\r\nHost: x\r\n${headers.map((one) => `${name}: ${one}\r\n`).join('')}`

  let answered = 0
  const seen = new Set<string>()

  /** Sends the requests, pipelined, on as many connections as it takes; how often they touched the store. */
  async function touches(requests: [string, string, string[], string?][]): Promise<number> {
    touched = 0
    for (let rest = requests; rest.length > 0;) {
      const last = 'GET /done HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
      const bytes = Buffer.from(rest.map((r) => `${line(...r)}\r\n`).join('') + last, 'latin1')
      const answers = parseAnswers(await service().exchange(bytes))
      expect(answers.length).toBeGreaterThan(0)
      rest.slice(0, answers.length).forEach(([method, target], i) => {
        const answer = answers[i]!
        const kind = `${method} ${answer.status} ${answer.text}`
        if (answer.status === 200 || seen.has(kind)) return
        seen.add(kind)
        if (answer.status === 400)
          expectContract('', '', answer) // the parser's
        else expectContract(method, target, answer)
      })
      answered += Math.min(answers.length, rest.length)
      rest = rest.slice(answers.length)
    }
    return touched
  }

  test('of path, method and header no request without a valid token runs a users operation', async () => {
    answered = 0
    const batch = fc.array(fc.tuple(method, target, headers, name), {
      minLength: 150,
      maxLength: 250,
    })
    await fc.assert(
      fc.asyncProperty(batch, async (requests) => expect(await touches(requests)).toBe(0)),
      { numRuns: times(560, 10_000) },
    )
    expect(answered).toBeGreaterThan(100_000)
  }, 600_000)

  test('which would be seen: with a valid token they do', async () => {
    expect(await touches([['GET', '/users', [VALID]]])).toBe(1)
    expect(await touches([['GET', 'http://example.com/users?email=x', [VALID]]])).toBe(1)
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
