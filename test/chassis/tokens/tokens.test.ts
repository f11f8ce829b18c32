// Tokens, without HTTP.
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import jwt, { type SignOptions } from 'jsonwebtoken'
import { createHmac, createSecretKey } from 'node:crypto'
import { createTokens } from '../../../src/chassis/tokens/tokens.ts'
import { forged } from '../support/forged.ts'
import { SECRET } from '../support/requests.ts'

const ID = '665f1c2e8b3f4a0012d4c001'
const tokens = createTokens([SECRET], 3_600)
const key = createSecretKey(SECRET, 'utf8')
const sign = (claims: object, options?: SignOptions) => jwt.sign(claims, key, options)
const verify = (token: string) => tokens.verify(`Bearer ${token}`)

const valid = expect.objectContaining({ valid: true })
const refused = (reason: string, signedFor?: string) => ({ valid: false, reason, signedFor })

afterEach(() => void jest.restoreAllMocks())

/** Sets the clock to a NumericDate (RFC 7519 §2). */
const NOW = Math.floor(Date.now() / 1000)
const setClock = (seconds: number) => jest.spyOn(Date, 'now').mockReturnValue(seconds * 1000)

test('a token is signed with HS256, and its claims are id, iat and exp', () => {
  setClock(NOW)
  const [header, claims, signature] = tokens.issue(ID).split('.') as [string, string, string]
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  expect(decode(header)).toEqual({ alg: 'HS256', typ: 'JWT' })
  expect(decode(claims)).toEqual({ id: ID, iat: NOW, exp: NOW + 3_600 })
  const hmac = createHmac('sha256', SECRET).update(`${header}.${claims}`).digest('base64url')
  expect(signature).toBe(hmac)
})

test.each([
  ['that was issued here', tokens.issue(ID)],
  ['without exp', sign({ id: ID })],
  ['without an id', sign({})],
  ['after its nbf', sign({ id: ID }, { notBefore: -1 })],
])('a token %s is accepted', (_, token) => expect(verify(token)).toEqual(valid))

test.each([
  ...Object.entries(forged),
  ['text after it', `${tokens.issue(ID)} x`],
  ['quotes around it', `"${tokens.issue(ID)}"`],
] as [string, string][])('a token with %s is invalid', (_, token) => {
  expect(verify(token)).toEqual(refused('invalid'))
})

const TOKEN = tokens.issue(ID)
const NO_SCHEME = [undefined, '', 'Bearer', 'Bearer ', 'Basic x', TOKEN, `Bearer ${TOKEN}\nx`]
const NOT_ALONE = [`Basic x, Bearer ${TOKEN}`, `Bearer${TOKEN}`, `Bearer: ${TOKEN}`]
test.each([...NO_SCHEME, ...NOT_ALONE])('the header %p has no bearer token', (header) => {
  expect(tokens.verify(header)).toEqual(refused('missing'))
})

test.each(['bearer ', 'BEARER  ', 'bEaReR\t', 'Bearer \t '])('a token can follow %p', (scheme) => {
  expect(tokens.verify(scheme + tokens.issue(ID))).toEqual(valid)
})

test('a refused token leaves other errors their stack traces', () => {
  verify('x')
  expect(new Error('another').stack).toMatch(/\n +at /)
})

test.each([
  ['expired', 'exp', [valid, valid, refused('expired', ID), refused('expired', ID)]],
  ['premature', 'nbf', [refused('premature', ID), refused('premature', ID), valid, valid]],
])('a token is %s exactly from or until its %s, and refused with its id', (_, claim, expected) => {
  const token = sign({ id: ID, [claim]: NOW + 10 })
  const results = [NOW + 9, NOW + 9, NOW + 10, NOW + 10].map((time) => {
    setClock(time)
    return verify(token)
  })
  expect(results).toEqual(expected)
})

test.each([
  [1_000, 1],
  [1_001, 2],
])('a header of %d characters that comes twice is verified %d times', (length, times) => {
  const verifying = jest.spyOn(jwt, 'verify')
  const header = 'Bearer'.padEnd(length - TOKEN.length) + TOKEN
  for (let i = 0; i < 2; i += 1) expect(tokens.verify(header)).toEqual(valid)
  expect(verifying).toHaveBeenCalledTimes(times)
})

describe('with several secrets', () => {
  const [older, newer] = [`older ${SECRET}`, `newer ${SECRET}`]
  const [before, between, after] = [[older], [newer, older], [newer]].map((secrets) =>
    createTokens(secrets, 3_600),
  )

  test.each([
    ['the first one signs', between, after, true],
    ['tokens of the second are accepted', before, between, true],
    ['a token of one that was removed is invalid', before, after, false],
  ])('%s', (_, issuer, verifier, isValid) => {
    const token = `Bearer ${issuer!.issue(ID)}`
    const result = isValid ? valid : refused('invalid')
    for (let i = 0; i < 2; i += 1) {
      expect([issuer!, verifier!].map((each) => each.verify(token))).toEqual([valid, result])
    }
  })

  test('an expired token is refused as expired only if its secret is among them', () => {
    const expired = `Bearer ${jwt.sign({ id: ID, exp: 1 }, older)}`
    expect(between!.verify(expired)).toEqual(refused('expired', ID))
    expect(after!.verify(expired)).toEqual(refused('invalid'))
  })
})
