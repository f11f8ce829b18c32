// The environment as configuration: the variables of every service, those of its tokens, and its own.
import { afterAll, expect, test } from '@jest/globals'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import * as chassis from '../../src/chassis/config.ts'
import { InvalidConfig, secret, text, VARIABLES } from '../../src/chassis/config.ts'
import { configuredSecrets } from '../../src/chassis/tokens/signing-secret.ts'
import { tokenVariables } from '../../src/chassis/tokens/open.ts'
import { newFolder } from '../support/readme.ts'
import { SECRET } from './support/requests.ts'

const OWN = {
  ...tokenVariables,
  NOTES_URI: secret(
    text('start with notes://', (uri) => uri.startsWith('notes://'))({ default: undefined }),
  ),
}
const REQUIRED = { ...OWN, NOTES_KEY: text()() }

const readConfig = (environment: NodeJS.ProcessEnv) => chassis.readConfig(environment, OWN)
const loadConfig = (warn?: (text: string) => void) => chassis.loadConfig(OWN, warn)

const NAMES = Object.keys({ ...VARIABLES, ...OWN })

const before = process.cwd()
process.chdir(newFolder())
afterAll(() => process.chdir(before))

const OTHER = `another ${SECRET}`

const LIST = 'must be secrets of at least 32 bytes, separated by commas'

test('an empty variable counts as not set', () => {
  const empty = { PORT: '', NOTES_URI: '', SIGNING_SECRET: '', TOKEN_TTL: '', LOG_LEVEL: '' }
  expect(readConfig(empty)).toEqual(readConfig({}))
})

test('a variable without a default must be set', () => {
  const read = (NOTES_KEY: string) => chassis.readConfig({ NOTES_KEY }, REQUIRED)
  expect(read('x').NOTES_KEY).toBe('x')
  expect(() => read('')).toThrow(new InvalidConfig('NOTES_KEY must be set'))
})

test.each([
  ['PORT', '0', 0],
  ['HOST', '::', '::', 'OPS_HOST'],
  ['ALLOWED_HOSTS', 'a.example, [::1]', ['a.example', '[::1]']],
  ['BASE_PATH', '/users-api/v1.0/~x', '/users-api/v1.0/~x'],
  ['BASE_PATH', '/', ''],
  ['STOP_DELAY', '1h', 3_600_000],
  ['TOKEN_TTL', '90', 90],
  ['BODY_LIMIT', '64KB', 65_536],
  ['DOCS', 'false', false],
  ['SIGNING_SECRET', 'é'.repeat(16), 'é'.repeat(16)],
  ['SIGNING_SECRETS', `${OTHER}, ${SECRET}`, [OTHER, SECRET]],
])('%s=%s is accepted', (name, text, value, key = name) => {
  expect(readConfig({ [name]: text })).toHaveProperty(key, value)
})

test('a name that is probably misspelled is named; the variables of other programs are not', () => {
  const misspelled = ['ALOWED_HOSTS', 'NOTE_URI', 'SIGNING_SECRETS_FILES', 'port']
  const others = ['HOME', 'DOCKER_HOST', 'HOSTNAME', 'NOTES_SERVICE_PORT', 'VHOST', 'POST']
  const names = [...misspelled, ...others, ...NAMES]
  const { warnings } = readConfig(Object.fromEntries(names.map((name) => [name, ''])))
  expect(warnings.map((warning) => warning.split(' ')[0])).toEqual(misspelled)
})

test.each([
  ['PORT', '65536', 'must be between 0 and 65535'],
  ['PORT', 'x://u:pw@host', 'must be between 0 and 65535'],
  ['TOKEN_TTL', 'soon', 'must be a duration between 1s and 10y'],
  ['MAX_CONNECTIONS', '1e3', 'must be between 1 and 100000'],
  ['BODY_LIMIT', '0', 'must be a size between 1b and 1mb'],
  ['BODY_LIMIT', 'big', 'must be a size between 1b and 1mb'],
  ['ALLOWED_HOSTS', 'a:80', 'must be host names without ports, separated by commas'],
  ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent'],
  ['DOCS', 'maybe', 'must be true or false'],
  ['NOTES_URI', 'localhost', 'must start with notes://'],
  ['SIGNING_SECRET', 'x'.repeat(31), 'must have at least 32 bytes (RFC 7518 §3.2)'],
  ['SIGNING_SECRETS', `${SECRET},short`, LIST],
])('%s=%s is refused', (name, text, reason) => {
  const lines = problems({ [name]: text })
  const isSecret = /^(SIGNING|NOTES)|@/.test(name + text)
  expect(lines).toEqual([`${name} ${reason}${isSecret ? '' : `, not "${text}"`}`])
})

test.each(['api', '/api/', '//api', '/a%20b', '/api/../x'])('BASE_PATH=%s is refused', (path) => {
  expect(problems({ BASE_PATH: path })).toEqual([
    `BASE_PATH must be a path such as /api, of letters, digits and -._~, with no slash at its end, not "${path}"`,
  ])
})

test('both variables for the secret are refused, at once with others', () => {
  const both = problems({ SIGNING_SECRET: SECRET, SIGNING_SECRETS: SECRET, PORT: 'x' })
  expect(both.at(-1)).toMatch(/^SIGNING_SECRETS must not be set with SIGNING_SECRET; /)
  expect(both.length).toBe(2)
})

/** The configuration of a process with these variables. */
function loadWith(variables: Record<string, string>) {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  try {
    return loadConfig()
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

test.each<[string, string, unknown]>([
  ['PORT', '80\r', 80],
  ['DATA_DIR', ' /my data\n', '/my data'],
  ['LOG_LEVEL', ' ', 'info'],
  ['SIGNING_SECRET', ' '.repeat(32), undefined],
  ['SIGNING_SECRETS', ` ${SECRET}\r, ${OTHER}\r`, [SECRET, OTHER]],
])('blanks at the ends of a variable do not count: %s=%j', (name, text, value) => {
  expect(loadWith({ [name]: text })).toHaveProperty(name, value)
})

test.each(['PORT', 'SIGNING_SECRET', 'NOTES_URI_FILE'])(
  '%s within quotes is refused, as docker run --env-file keeps them',
  (name) => {
    const refusal = `${name} is in quotes, which docker run --env-file keeps: remove them`
    for (const value of ['"80"', ` '/api'\r`, '`80`', '"a\nb"'])
      expect(() => loadWith({ [name]: value })).toThrow(new InvalidConfig(refusal))
  },
)

test('other quotes in a variable count', () => {
  const secret = `'${SECRET}"`
  expect(loadWith({ SIGNING_SECRET: secret }).SIGNING_SECRET).toBe(secret)
})

writeFileSync('secret', `${SECRET}\n`)
writeFileSync('binary', Buffer.from(SECRET + '\xff', 'latin1'))

test('a secret in a file is read without the line end, also through a link, as Kubernetes mounts it', () => {
  symlinkSync('secret', 'link')
  const config = readConfig({ SIGNING_SECRET_FILE: 'link' })
  expect(configuredSecrets(config)).toEqual([SECRET])
})

test.each([
  ['/dev/zero', {}, 'SIGNING_SECRET_FILE cannot be read: it is not a regular file'],
  ['binary', {}, 'not valid for encoding utf-8'],
  ['/nothing', {}, 'SIGNING_SECRET_FILE cannot be read: ENOENT'],
  ['secret', { SIGNING_SECRET: SECRET }, 'SIGNING_SECRET_FILE must not be set with SIGNING_SECRET'],
])('a secret in the file %s with %j is refused: %s', (SIGNING_SECRET_FILE, more, reason) => {
  const line = expect.stringContaining(reason)
  expect(problems({ SIGNING_SECRET_FILE, ...more })).toEqual([line])
})

test('.env in the current folder adds to the environment, which wins, even if it is empty', () => {
  const lines = [
    '\uFEFFLOG_LEVEL=warn',
    'LOG_LEVELS=x',
    'HOST=::1',
    'DATA_DIR=x',
    ' ',
    '\t# note',
    'STOP_DELAY=7',
  ]
  writeFileSync('.env', `${lines.join('\r\n')}\n\texport  TOKEN_TTL\t= "5s"\t# note\nKEY='a  b#'`)
  Object.assign(process.env, { HOST: '127.0.0.2', DATA_DIR: '' })
  const expected = { LOG_LEVEL: 'warn', HOST: '127.0.0.2', DATA_DIR: './data' }
  const warned: string[] = []
  const config = loadConfig((text) => warned.push(text))
  expect(config).toMatchObject({ ...expected, TOKEN_TTL: 5, STOP_DELAY: 7_000, warnings: warned })
  expect(warned.join()).toContain(' LOG_LEVEL?')
  expect(process.env).toMatchObject({ KEY: 'a  b#', HOST: '127.0.0.2', DATA_DIR: '' })
})

const RULE =
  '.env must have one NAME=value on each line, in UTF-8; put a value with # or a quote in (other) quotes'
test.each([
  ['a name with :', '\n# PORT\nPORT: 1\nLOG_LEVEL="debug"', 3],
  ['a # in a value without quotes', `HOST=x\r\nSIGNING_SECRET=${SECRET}#1`, 2],
  ['a quote without its end', 'PORT=1\nKEY= "a\nHOST=x', 2],
  ['UTF-16', Buffer.from('PORT=1\n', 'utf16le'), 1],
])('a .env with %s is refused, with the number of the line', (_, content, line) => {
  writeFileSync('.env', content)
  expect(() => loadConfig()).toThrow(new InvalidConfig(`${RULE}: see line ${line}`))
})

const MANY = 1_000_000 // if the time were quadratic, it would be half an hour
test.each([
  `${'\n'.repeat(MANY)}x`,
  `A=b${' '.repeat(MANY)}c#`,
  `A=${' '.repeat(MANY)}c#`,
  `A='b'${' '.repeat(MANY)}c`,
])('a .env with a million blanks is read in time: %#', (content) => {
  writeFileSync('.env', content)
  expect(() => loadConfig()).toThrow(RULE)
})

test('a .env that cannot be read is refused; one that is missing is not', () => {
  rmSync('.env')
  expect(loadConfig()).toEqual(readConfig(process.env))
  mkdirSync('.env')
  expect(() => loadConfig()).toThrow(/^\.env cannot be read: it is not a regular file/)
})

function problems(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidConfig)
    return (error as InvalidConfig).message.split('\n')
  }
  return []
}
