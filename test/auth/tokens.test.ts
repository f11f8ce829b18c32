// Tokens, without HTTP.
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import jwt, { type SignOptions } from 'jsonwebtoken'
import { createHmac, createSecretKey } from 'node:crypto'
import { createTokens, isLongEnough } from '../../src/auth/tokens.ts'
import { forged, signRaw } from '../support/forged.ts'
import { SECRET } from '../support/stores.ts'

const ID = '665f1c2e8b3f4a0012d4c001'
const tokens = createTokens([SECRET], 3_600)
const key = createSecretKey(SECRET, 'utf8')
const sign = (claims: object, options?: SignOptions) => jwt.sign(claims, key, options)
const verify = (token: string) => tokens.verify(`Bearer ${token}`)

const valid = expect.objectContaining({ valid: true })
const refused = (reason: string) => ({ valid: false, reason })

afterEach(() => void jest.restoreAllMocks())

/** Sets the clock to a NumericDate (RFC 7519 §2). */
const setClock = (seconds: number) => jest.spyOn(Date, 'now').mockReturnValue(seconds * 1000)

test('a token is signed with HS256, and its claims are id, iat and exp', () => {
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
  ['that was issued here', tokens.issue(ID)],
  ['without exp', sign({ id: ID })],
  ['without an id', sign({})],
  ['after its nbf', sign({ id: ID }, { notBefore: -1 })],
])('a token %s is accepted', (_, token) => {
  expect(verify(token)).toEqual(valid)
})

test.each([
  ['expired', sign({ id: ID }, { expiresIn: -1 })],
  ['premature', sign({ id: ID }, { notBefore: 60 })],
])('a token that is %s is refused with that reason', (reason, token) => {
  expect(verify(token)).toEqual(refused(reason))
})

test.each(Object.entries(forged))('a token with %s is invalid', (_, token) => {
  expect(verify(token)).toEqual(refused('invalid'))
})

test.each([
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Basic x',
  tokens.issue(ID),
  `Basic x, Bearer ${tokens.issue(ID)}`,
  `Bearer${tokens.issue(ID)}`,
  `Bearer: ${tokens.issue(ID)}`,
  `Bearer ${tokens.issue(ID)}\nx`,
])('the header %p has no bearer token', (authorization) => {
  expect(tokens.verify(authorization)).toEqual(refused('missing'))
})

test.each(['bearer ', 'BEARER  ', 'bEaReR\t', 'Bearer \t '])('a token can follow %p', (scheme) => {
  expect(tokens.verify(scheme + tokens.issue(ID))).toEqual(valid)
})

test.each(['x', `${tokens.issue(ID)} x`, `"${tokens.issue(ID)}"`])('%s is invalid', (token) => {
  expect(verify(token)).toEqual(refused('invalid'))
})

test('a refused token leaves other errors their stack traces', () => {
  verify(`${tokens.issue(ID)} x`)
  expect(new Error('another').stack).toMatch(/\n +at /)
})

test('a secret has at least 32 bytes of UTF-8', () => {
  const secrets = ['x'.repeat(31), 'x'.repeat(32), '\u00e9'.repeat(16)]
  expect(secrets.map(isLongEnough)).toEqual([false, true, true])
})

describe('although verdicts are remembered', () => {
  const now = Math.floor(Date.now() / 1000)

  test('a token is refused as soon as it expires', () => {
    const token = sign({ exp: now + 10 })
    for (const time of [now, now + 9]) {
      setClock(time)
      expect(verify(token)).toEqual(valid)
    }
    setClock(now + 10)
    for (let i = 0; i < 2; i += 1) expect(verify(token)).toEqual(refused('expired'))
  })

  test('a token is accepted as soon as its nbf comes', () => {
    const token = sign({ nbf: now + 10 })
    setClock(now + 9)
    for (let i = 0; i < 2; i += 1) expect(verify(token)).toEqual(refused('premature'))
    setClock(now + 10)
    expect(verify(token)).toEqual(valid)
  })

  test('no other token is accepted with it', () => {
    const token = tokens.issue(ID)
    expect(verify(token)).toEqual(valid)
    for (const other of [token.slice(0, -1), `${token}x`, `${token} `, token.toUpperCase()]) {
      expect([other, verify(other).valid]).toEqual([other, false])
    }
  })

  test('a token of one secret is never accepted with another', () => {
    const token = tokens.issue(ID)
    const others = createTokens([`another ${SECRET}`], 3_600)
    for (let i = 0; i < 2; i += 1) {
      expect(verify(token)).toEqual(valid)
      expect(others.verify(`Bearer ${token}`)).toEqual(refused('invalid'))
    }
  })

  test('the verdicts are right for more tokens than are remembered', () => {
    const first = tokens.issue(ID)
    expect(verify(first)).toEqual(valid)
    for (let i = 0; i < 10_001; i += 1) verify(signRaw(`{"i":${i}}`))
    for (let i = 0; i < 1_001; i += 1) verify(`x${i}`)
    expect([verify(first).valid, verify('x0').valid]).toEqual([true, false])
  })
})

test('a valid token is verified once, if the header has at most 1,000 characters', () => {
  const token = sign({ exp: Math.floor(Date.now() / 1000) + 60 })
  const verifications = jest.spyOn(jwt, 'verify')
  for (const [length, times] of [
    [1_000, 1],
    [1_001, 2],
  ] as const) {
    verifications.mockClear()
    const header = `Bearer ${token.padStart(length - 'Bearer '.length)}`
    for (let i = 0; i < 2; i += 1) expect(tokens.verify(header)).toEqual(valid)
    expect(verifications).toHaveBeenCalledTimes(times)
  }
})

describe('with several secrets', () => {
  const [older, newer] = [`older ${SECRET}`, `newer ${SECRET}`]
  const [before, between, after] = [[older], [newer, older], [newer]].map((secrets) =>
    createTokens(secrets, 3_600),
  )

  test('the first one signs', () => {
    const token = `Bearer ${between!.issue(ID)}`
    expect([after!.verify(token).valid, before!.verify(token).valid]).toEqual([true, false])
  })

  test('tokens of all of them are accepted', () => {
    for (const issuer of [before!, between!, after!]) {
      const token = `Bearer ${issuer.issue(ID)}`
      for (let i = 0; i < 2; i += 1) expect(between!.verify(token)).toEqual(valid)
    }
  })

  test('a token of one that was removed is invalid', () => {
    expect(after!.verify(`Bearer ${before!.issue(ID)}`)).toEqual(refused('invalid'))
  })

  test('an expired token is refused as expired only if its secret is among them', () => {
    const expired = `Bearer ${jwt.sign({ exp: 1 }, older)}`
    expect(between!.verify(expired)).toEqual(refused('expired'))
    expect(after!.verify(expired)).toEqual(refused('invalid'))
  })
})
