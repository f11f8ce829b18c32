// Tokens, without any HTTP.
import { describe, expect, jest, test } from '@jest/globals'
import jwt, { type SignOptions } from 'jsonwebtoken'
import { createHmac, createSecretKey, generateKeyPairSync } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTokens, isLongEnough } from '../../src/auth/tokens.ts'
import { SECRET } from '../support/stores.ts'

const ID = '665f1c2e8b3f4a0012d4c001'
const tokens = createTokens([SECRET], 3_600)
const key = createSecretKey(SECRET, 'utf8')
const sign = (claims: object, options?: SignOptions) => jwt.sign(claims, key, options)
const verify = (token: string) => tokens.verify(`Bearer ${token}`)

test('issues a token signed with HS256 whose claims are id, iat and exp', () => {
  const [header, claims, signature] = tokens.issue(ID).split('.') as [string, string, string]
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  expect(decode(header)).toEqual({ alg: 'HS256', typ: 'JWT' })
  const { iat } = decode(claims)
  expect(Math.abs(iat - Date.now() / 1000)).toBeLessThan(5)
  expect(decode(claims)).toEqual({ id: ID, iat, exp: iat + 3_600 })
  const hmac = createHmac('sha256', SECRET).update(`${header}.${claims}`).digest('base64url')
  expect(signature).toBe(hmac)
})

test.each([
  ['its own', tokens.issue(ID)],
  ['one without exp', sign({ id: ID })],
  ['one without an id', sign({})],
  ['one whose nbf has come', sign({ id: ID }, { notBefore: -1 })],
])('takes %s', (_, token) => {
  expect(verify(token)).toEqual({ valid: true })
})

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A well signed token whose payload is whatever is given. */
function signRaw(payload: string): string {
  const parts = `${base64({ alg: 'HS256', typ: 'JWT' })}.${Buffer.from(payload).toString('base64url')}`
  return `${parts}.${createHmac('sha256', SECRET).update(parts).digest('base64url')}`
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

test.each([
  ['expired', 'one that has expired', sign({ id: ID }, { expiresIn: -1 })],
  ['premature', 'one whose nbf is to come', sign({ id: ID }, { notBefore: 60 })],
  [
    'invalid',
    'one whose exp is no number',
    sign({ id: ID }).replace(/\..*\./, `.${base64({ exp: 'x' })}.`),
  ],
  ['invalid', 'one of another secret', jwt.sign({ id: ID }, `${SECRET}x`)],
  ['invalid', 'HS384', sign({ id: ID }, { algorithm: 'HS384' })],
  ['invalid', 'HS512', sign({ id: ID }, { algorithm: 'HS512' })],
  ['invalid', 'RS256', jwt.sign({ id: ID }, privateKey, { algorithm: 'RS256' })],
  ['invalid', 'no algorithm', jwt.sign({ id: ID }, '', { algorithm: 'none' })],
  ['invalid', 'no signature', sign({ id: ID }).replace(/[^.]*$/, '')],
  ['invalid', 'other claims', sign({ id: ID }).replace(/\..*\./, `.${base64({ id: 'other' })}.`)],
  [
    'invalid',
    'a header that must be understood',
    sign({ id: ID }, { header: { alg: 'HS256', crit: ['x'] } }),
  ],
  ['invalid', 'a payload that is a text', jwt.sign('text', SECRET)],
  ['invalid', 'a payload that is a number', signRaw('5')],
  ['invalid', 'a payload that is an array', signRaw('[]')],
  ['invalid', 'a payload that is null', signRaw('null')],
  ['invalid', 'a payload behind a byte order mark', signRaw('\uFEFF{"exp":1}')],
  ['invalid', 'three dots', '...'],
  ['invalid', 'no token', 'x'],
])('refuses as %s %s', (reason, _, token) => {
  expect(verify(token)).toEqual({ valid: false, reason })
})

test.each([
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Basic x',
  tokens.issue(ID),
  `Basic x, Bearer ${tokens.issue(ID)}`,
  `Bearer ${tokens.issue(ID)}\nx`,
])('finds no bearer token in %p', (authorization) => {
  expect(tokens.verify(authorization)).toEqual({ valid: false, reason: 'missing' })
})

test.each([' ', '  ', '\t', ' \t '])('takes a token with %p before it', (space) => {
  expect(tokens.verify(`bearer${space}${tokens.issue(ID)}`)).toEqual({ valid: true })
})

test('a secret is long enough from 32 bytes of UTF-8 on', () => {
  expect(['x'.repeat(31), 'x'.repeat(32), '\u00e9'.repeat(16)].map(isLongEnough)).toEqual([
    false,
    true,
    true,
  ])
})

test('a token is refused once it has expired, however often it was taken before', async () => {
  const exp = Math.floor(Date.now() / 1000) + 2
  const token = sign({ exp })
  for (let verdict = verify(token); Date.now() / 1000 < exp; verdict = verify(token)) {
    expect(verdict).toEqual({ valid: true })
    await sleep(20)
  }
  expect(verify(token)).toEqual({ valid: false, reason: 'expired' })
  expect(verify(token)).toEqual({ valid: false, reason: 'expired' })
})

test('a token is taken once its time has come, however often it was refused before', async () => {
  const nbf = Math.floor(Date.now() / 1000) + 2
  const token = sign({ nbf })
  expect(verify(token)).toEqual({ valid: false, reason: 'premature' })
  while (Date.now() / 1000 < nbf) await sleep(20)
  expect(verify(token)).toEqual({ valid: true })
})

test('a token that was taken is not judged again until it expires, if its header is no longer than 1,000', () => {
  const nbf = Math.floor(Date.now() / 1000)
  const token = sign({ nbf, exp: nbf + 60 })
  const [short, long] = [1_000, 1_001].map((n) => `Bearer ${token.padStart(n - 'Bearer '.length)}`)
  for (const header of [short, long]) expect(tokens.verify(header)).toEqual({ valid: true })
  const clock = jest.spyOn(Date, 'now').mockReturnValue((nbf - 60) * 1000) // as if nbf were to come
  expect(tokens.verify(short)).toEqual({ valid: true })
  expect(tokens.verify(long)).toEqual({ valid: false, reason: 'premature' })
  clock.mockReturnValue((nbf + 60) * 1000)
  expect(tokens.verify(short)).toEqual({ valid: false, reason: 'expired' })
  clock.mockRestore()
})

test('what was taken with one secret is not with another', () => {
  const token = tokens.issue(ID)
  const others = createTokens([`another ${SECRET}`], 3_600)
  for (let i = 0; i < 2; i += 1) {
    expect(verify(token)).toEqual({ valid: true })
    expect(others.verify(`Bearer ${token}`)).toEqual({ valid: false, reason: 'invalid' })
  }
})

test('a token is remembered whole', () => {
  const token = tokens.issue(ID)
  expect(verify(token)).toEqual({ valid: true })
  for (const other of [token.slice(0, -1), `${token}x`, `${token} `, token.toUpperCase()]) {
    expect([other, verify(other).valid]).toEqual([other, false])
  }
})

test('is right about ever more tokens, more than it remembers', () => {
  const first = tokens.issue(ID)
  expect(verify(first).valid).toBe(true)
  for (let i = 0; i < 10_001; i += 1) expect(verify(sign({ i })).valid).toBe(true)
  for (let i = 0; i < 10_001; i += 1) expect(verify(`x${i}`).valid).toBe(false)
  expect([verify(first).valid, verify('x0').valid]).toEqual([true, false])
})

describe('with several secrets', () => {
  const [older, newer] = [`older ${SECRET}`, `newer ${SECRET}`]
  const [before, between, after] = [[older], [newer, older], [newer]].map((secrets) =>
    createTokens(secrets, 3_600),
  )

  test('the first signs', () => {
    expect(after!.verify(`Bearer ${between!.issue(ID)}`)).toEqual({ valid: true })
    expect(before!.verify(`Bearer ${between!.issue(ID)}`).valid).toBe(false)
  })

  test('all verify', () => {
    for (const issuer of [before!, between!, after!]) {
      const token = issuer.issue(ID)
      for (let i = 0; i < 2; i += 1) {
        expect(between!.verify(`Bearer ${token}`)).toEqual({ valid: true })
      }
    }
  })

  test('one that is removed verifies no more', () => {
    expect(after!.verify(`Bearer ${before!.issue(ID)}`)).toEqual({
      valid: false,
      reason: 'invalid',
    })
  })

  test('the reason is that of the secret that the token was signed with', () => {
    const expired = jwt.sign({ exp: 1 }, older)
    expect(between!.verify(`Bearer ${expired}`)).toEqual({ valid: false, reason: 'expired' })
    expect(after!.verify(`Bearer ${expired}`)).toEqual({ valid: false, reason: 'invalid' })
  })
})

test('of the headers that are refused it remembers the last 1,000, and none that is longer than 1,000', () => {
  const tokens = createTokens([SECRET], 60)
  const judged = jest.spyOn(jwt, 'verify')
  const isJudged = (authorization: string): boolean => {
    judged.mockClear()
    expect(tokens.verify(authorization)).toEqual({ valid: false, reason: 'invalid' })
    return judged.mock.calls.length > 0
  }
  const [first = '', ...others] = Array.from({ length: 1_001 }, (_, i) => `Bearer ${i}`)
  for (const header of [first, ...others]) expect(isJudged(header)).toBe(true)
  for (const header of others) expect(isJudged(header)).toBe(false)
  expect(isJudged(first)).toBe(true)
  const [longest, longer] = [1_000, 1_001].map((length) => `Bearer ${'x'.repeat(length - 7)}`)
  expect([longest, longest, longer, longer].map((header) => isJudged(header!))).toEqual([
    true,
    false,
    true,
    true,
  ])
  judged.mockRestore()
})
