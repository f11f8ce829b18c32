// Tokens that look valid and are not, by what is wrong with them.
import jwt from 'jsonwebtoken'
import { createHmac } from 'node:crypto'
import { SECRET } from './requests.ts'

const OTHER = `${SECRET}.`

const encoded = (text: string) => Buffer.from(text).toString('base64url')

/** A token with any header and any payload, signed with HMAC-SHA-256. */
function signRaw(payload: string, header: object = {}, secret = SECRET): string {
  const parts = `${encoded(JSON.stringify({ alg: 'HS256', typ: 'JWT', ...header }))}.${encoded(payload)}`
  return `${parts}.${createHmac('sha256', secret).update(parts).digest('base64url')}`
}

const CLAIMS = '{"id":"x"}'
const VALID = signRaw(CLAIMS)
const sign = (key: jwt.Secret, algorithm: jwt.Algorithm) =>
  jwt.sign({ id: 'x' }, key, { algorithm })

export const forged: Record<string, string> = {
  'another secret': sign(OTHER, 'HS256'),
  'no signature': VALID.replace(/[^.]*$/, ''),
  'the signature of other claims': VALID.replace(/\..*\./, `.${encoded('{"id":"y"}')}.`),
  HS512: sign(SECRET, 'HS512'),
  none: sign('', 'none'),
  'a key in its header': signRaw(CLAIMS, { jwk: { kty: 'oct', k: encoded(OTHER) } }, OTHER),
  'an extension that must be understood': signRaw(CLAIMS, { crit: ['b64'], b64: false }),
  'such an extension, expired': signRaw('{"id":"x","exp":1}', { crit: ['b64'], b64: false }),
  'no extensions that must be understood': signRaw(CLAIMS, { crit: [] }),
  'an exp that is a string': signRaw('{"id":"x","exp":"1"}'),
  'no payload': signRaw(''),
  'a payload that is a string': signRaw('"x"'),
  'a payload that is an array': signRaw('[]'),
  'a payload after a byte order mark': signRaw('\uFEFF{"exp":1}'),
  'no dots': 'x',
}
