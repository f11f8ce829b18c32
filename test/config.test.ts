// The environment as configuration.
import { afterAll, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvalidConfig, readConfig } from '../src/config.ts'
import { SECRET } from './support/stores.ts'

const OTHER = `another ${SECRET}`
const MONGODB_URI = 'mongodb://localhost'

const LIST = 'must be a list with commas, of at least 32 bytes each'

test('every variable has a default', () => {
  expect(readConfig({})).toEqual({
    host: '127.0.0.1',
    port: 3000,
    opsHost: '127.0.0.1',
    opsPort: 9090,
    allowedHosts: [],
    mongodbUri: undefined,
    dataDir: './data',
    signingSecrets: [],
    tokenTtl: 86_400,
    bodyLimit: 1_048_576,
    stopDelay: 0,
    stopTimeout: 8_000,
    docs: true,
    logLevel: 'info',
    tracing: false,
  })
})

test('an empty variable counts as not set', () => {
  const empty = { PORT: '', MONGODB_URI: '', SIGNING_SECRET: '', TOKEN_TTL: '', LOG_LEVEL: '' }
  expect(readConfig(empty)).toEqual(readConfig({}))
})

test.each([
  ['PORT', '0', 'port', 0],
  ['PORT', '65535', 'port', 65_535],
  ['HOST', '::', 'host', '::'],
  ['OPS_PORT', '8081', 'opsPort', 8_081],
  ['OPS_HOST', '::1', 'opsHost', '::1'],
  ['HOST', '0.0.0.0', 'opsHost', '0.0.0.0'],
  ['ALLOWED_HOSTS', 'a.example, b', 'allowedHosts', ['a.example', 'b']],
  ['STOP_DELAY', '5s', 'stopDelay', 5_000],
  ['TOKEN_TTL', '90', 'tokenTtl', 90],
  ['TOKEN_TTL', '15m', 'tokenTtl', 900],
  ['TOKEN_TTL', '7d', 'tokenTtl', 604_800],
  ['BODY_LIMIT', '2048', 'bodyLimit', 2_048],
  ['BODY_LIMIT', '64kb', 'bodyLimit', 65_536],
  ['STOP_TIMEOUT', '0', 'stopTimeout', 0],
  ['DOCS', 'false', 'docs', false],
  ['LOG_LEVEL', 'silent', 'logLevel', 'silent'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://localhost:4318', 'tracing', true],
  ['SIGNING_SECRET', SECRET, 'signingSecrets', [SECRET]],
  ['SIGNING_SECRETS', `${OTHER}, ${SECRET}`, 'signingSecrets', [OTHER, SECRET]],
])('%s=%s is accepted', (name, text, key, value) => {
  expect(readConfig({ [name]: text })).toHaveProperty(key, value)
})

test('MongoDB needs a secret', () => {
  const config = readConfig({ MONGODB_URI, SIGNING_SECRET: SECRET })
  expect(config).toMatchObject({ mongodbUri: MONGODB_URI, signingSecrets: [SECRET] })
})

describe('refused:', () => {
  test.each([
    ['PORT', '65536', 'must be between 0 and 65535'],
    ['PORT', '-1', 'must be between 0 and 65535'],
    ['PORT', '80a', 'must be between 0 and 65535'],
    ['PORT', '1e3', 'must be between 0 and 65535'],
    ['TOKEN_TTL', '0', 'must be a duration between 1s and 10y'],
    ['TOKEN_TTL', '100y', 'must be a duration between 1s and 10y'],
    ['TOKEN_TTL', 'soon', 'must be a duration between 1s and 10y'],
    ['TOKEN_TTL', '-1d', 'must be a duration between 1s and 10y'],
    ['BODY_LIMIT', '0', 'must be a size between 1b and 8mb'],
    ['BODY_LIMIT', '9mb', 'must be a size between 1b and 8mb'],
    ['BODY_LIMIT', 'big', 'must be a size between 1b and 8mb'],
    ['STOP_TIMEOUT', '2h', 'must be a duration between 0s and 1h'],
    ['ALLOWED_HOSTS', 'a:80', 'must be a list of host names without ports, with commas'],
    ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318', 'must be an http:// or https:// URL'],
    ['DOCS', 'maybe', 'must be true or false'],
    ['MONGODB_URI', 'localhost', 'must start with mongodb:// or mongodb+srv://'],
    ['SIGNING_SECRET', 'x'.repeat(31), 'must have at least 32 bytes (RFC 7518 §3.2)'],
    ['SIGNING_SECRETS', `${SECRET},short`, LIST],
    ['SIGNING_SECRETS', `${SECRET},`, LIST],
  ])('%s=%s', (name, text, reason) => {
    const secret: Record<string, string> = { SIGNING_SECRET: SECRET }
    const lines = problems({ ...(!name.startsWith('SIGNING') && secret), [name]: text })
    const isSecret = /^(SIGNING|MONGODB)/.test(name)
    expect(lines).toEqual([`${name} ${reason}${isSecret ? '' : `, not "${text}"`}`])
  })

  test('both variables for the secret', () => {
    expect(problems({ SIGNING_SECRET: SECRET, SIGNING_SECRETS: SECRET })).toEqual([
      'SIGNING_SECRETS must not be set with SIGNING_SECRET; put that first in the list',
    ])
  })

  test('MongoDB without a secret', () => {
    expect(problems({ MONGODB_URI })).toEqual([
      'SIGNING_SECRET must be set with MONGODB_URI; make one with: openssl rand -hex 32',
    ])
  })

  test('an invalid MongoDB address together with a missing secret', () => {
    expect(problems({ MONGODB_URI: 'localhost' })).toHaveLength(2)
  })

  test('several variables at once, without showing a secret', () => {
    const given = { LOG_LEVEL: 'x', PORT: 'x', SIGNING_SECRET: 'short', TOKEN_TTL: 'x' }
    const lines = problems({ ...given, MONGODB_URI })
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(Object.keys(given))
    expect(lines.join()).not.toContain('short')
  })
})

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
  const file = join(folder, 'secret')
  writeFileSync(file, `${SECRET}\n`)
  afterAll(() => rmSync(folder, { recursive: true }))

  test('is read, without the line end', () => {
    expect(readConfig({ SIGNING_SECRET_FILE: file }).signingSecrets).toEqual([SECRET])
  })

  test.each([
    ['another name', `${file}x`, {}, /^SIGNING_SECRET_FILE cannot be read: ENOENT/],
    ['the variable too', file, { SIGNING_SECRET: SECRET }, /must not be set with SIGNING_SECRET$/],
  ])('is refused with %s', (_, SIGNING_SECRET_FILE, more, reason) => {
    const lines = problems({ SIGNING_SECRET_FILE, ...more })
    expect(lines).toEqual([expect.stringMatching(reason)])
    expect(lines[0]).toMatch(/^SIGNING_SECRET_FILE /)
  })
})

function problems(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof InvalidConfig) return error.message.split('\n')
    throw error
  }
  return []
}
