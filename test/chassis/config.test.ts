// The environment as configuration, with variables of the chassis and of a service of notes.
import { afterAll, expect, jest, test } from '@jest/globals'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as config from '../../src/chassis/config/config.ts'
import { integer, secret, text, type Variables } from '../../src/chassis/config/validators.ts'
import { VARIABLES } from '../../src/chassis/config/variables.ts'
import { tokenVariables } from '../../src/chassis/tokens/open.ts'
import { newFolder, read } from '../support/readme.ts'
import { SECRET } from './support/requests.ts'

const isUri = (uri: string) => uri.startsWith('notes:')
const variables = {
  ...tokenVariables,
  NOTES_URI: secret(text('start with notes:', isUri)({ default: undefined })),
}
const readConfig = (environment: NodeJS.ProcessEnv) => config.readConfig(environment, variables)
const loadConfig = () => config.loadConfig(variables)

const told = jest.spyOn(console, 'error').mockImplementation(() => {})

const before = process.cwd()
process.chdir(newFolder())
afterAll(() => process.chdir(before))

const OTHER = `another ${SECRET}`

test('a variable of the chassis cannot be one of the service, too', () => {
  const taken = 'the service cannot have PORT as its own: the chassis has it'
  expect(() => config.readConfig({}, { PORT: text()({ default: 'x' }) })).toThrow(taken)
})

test('a variable without a default must be set', () => {
  const required = {
    NOTES_KEY: text()(),
    NOTES_SIZE: integer(1, 9)(),
    NOTES_SECRET: secret(text()()),
  }
  const given = { NOTES_KEY: 'x', NOTES_SIZE: '3', NOTES_SECRET: 'y' }
  expect(config.readConfig(given, required)).toMatchObject({ ...given, NOTES_SIZE: 3 })
  const lines = Object.keys(given).map((name) => `${name} must be set`)
  expect(problems({}, required)).toEqual(lines)
  expect(problems({ NOTES_KEY: '', NOTES_SIZE: '', NOTES_SECRET: '' }, required)).toEqual(lines)
})

test.each([
  ['PORT', '0', 0],
  ['HOST', '::', '::', 'OPS_HOST'],
  ['ALLOWED_HOSTS', 'a.example, [::1]', ['a.example', '[::1]']],
  ['BASE_PATH', '/notes-api/v1.0/~x', '/notes-api/v1.0/~x'],
  ['BASE_PATH', '/', ''],
  ['STOP_DELAY', '1h', 3_600_000],
  ['TOKEN_TTL', '90', 90],
  ['BODY_LIMIT', '64KB', 65_536],
  ['DOCS', 'false', false],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://me:pw@[::1]:4318', 'http://me:pw@[::1]:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'HTTPS://x/y?z', 'HTTPS://x/y?z'],
  ['SIGNING_SECRET', 'é'.repeat(16), 'é'.repeat(16)],
  ['SIGNING_SECRETS', `${OTHER}\r\n \n${SECRET},\n${OTHER}`, [OTHER, SECRET, OTHER]],
])('%s=%s is accepted', (name, text, value, key = name) => {
  expect(readConfig({ [name]: text })).toHaveProperty(key, value)
})

test('its README has each variable with its default', () => {
  const found = read('src/chassis/README.md').matchAll(/^- `[A-Z_]+=.*?:/gm)
  const cells = [...found].flatMap(([cell]) => [...cell.matchAll(/`(\w+)=(.*?)`/g)])
  const given = Object.fromEntries(cells.map(([, name, value]) => [name!, value!]))
  const all: Variables = { ...VARIABLES, ...tokenVariables }
  expect(Object.keys(given).sort()).toEqual(Object.keys(all).sort())
  expect(readConfig(given)).toEqual(readConfig({}))
  const unset = Object.keys(given).filter((name) => given[name] === '')
  expect(unset.filter((name) => [all[name]!.default].flat().some(Boolean))).toEqual([])
})

const NOT_REPLACED =
  'must be the value itself: nothing replaces ${…}, $(…), {{ … }}, <…> or ~ here, or removes quotes; for a secret, use openssl rand -hex 32'
/** What only a shell or a template would replace; each is long enough for a secret. */
const TEMPLATES = [
  '${SECRET}',
  '$(openssl rand -hex 32)',
  '{{ .Values.secret }}',
  '<paste-here>',
  '<your secret here>',
  '$SECRET',
].map((text) => text.replace(/\w+/, (word) => word.padEnd(32, '_')))

/** What is no URL for the exporter: without a scheme, a URL of another scheme or of none, or not one. */
const NOT_URLS = ['10.0.0.5:4318', 'grpc://x', 'http://', 'https//me:pw@x', 'http://x?key=pw']
const NO_URL = 'must be a URL that begins with http:// or https://'

const notReplaced = (name: string, texts: string[]) =>
  texts.map((text): [string, string, string] => [name, text, NOT_REPLACED])

test.each([
  ['SIGNING_SECRET', '<tH?{9$(w#e~R%kQ|zL^x&0!m*V+bN=d>'],
  ['SIGNING_SECRET', '$aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1v'],
  ['SIGNING_SECRET', `'${SECRET}"`],
  ['SIGNING_SECRET', 'a${B}$(c){{ d }}<e>:$FGH@0123456789abcdef'],
  ['NOTES_URI', 'notes://ada:a${B}$(c){{d}}<e>@host'],
  ['DATA_DIR', '/srv/a~b/C$/{c}/100%/x<y/z-${z}'],
  ['DATA_DIR', 'backup:2026-11-29'],
  ['SIGNING_SECRET', `${SECRET}!,(${SECRET}`],
])('%s=%s is accepted: its characters stand for themselves', (name, text) => {
  expect(readConfig({ [name]: text })).toHaveProperty(name, text)
})

test.each([
  ['PORT', '65536', 'must be between 0 and 65535'],
  ['PORT', 'notes://u:pw@host', 'must be between 0 and 65535'],
  ['TOKEN_TTL', 'soon', 'must be a duration between 1s and 10y'],
  ['MAX_CONNECTIONS', '1e3', 'must be between 1 and 100000'],
  ['BODY_LIMIT', '0', 'must be a size between 1b and 1mb'],
  ...['a:80', '.a'].map((host): [string, string, string] => [
    'ALLOWED_HOSTS',
    host,
    'must be host names without ports or wildcards, separated by commas',
  ]),
  ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent'],
  ['DOCS', 'maybe', 'must be true or false'],
  ['NOTES_URI', 'localhost', 'must start with notes:'],
  ...NOT_URLS.map((text): [string, string, string] => [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    text,
    `${NO_URL}, without ? or #`,
  ]),
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'x:4318', NO_URL],
  ['SIGNING_SECRET', 'x'.repeat(31), 'must have at least 32 bytes (RFC 7518 §3.2)'],
  [
    'SIGNING_SECRETS',
    `${SECRET},short`,
    'must be secrets of at least 32 bytes, separated by commas',
  ],
  ...notReplaced('SIGNING_SECRET', TEMPLATES),
  ...notReplaced(
    'SIGNING_SECRETS',
    TEMPLATES.flatMap((template) => [`${template}, ${SECRET}`, `${SECRET},${template}`]),
  ),
  ...notReplaced('DATA_DIR', ['~/notes', '/srv/{{ name }}']),
  ...notReplaced('NOTES_URI', ['notes://ada:$PASSWORD@host', 'notes://host/<database>?x=y']),
  ...notReplaced('NOTES_URI', ['"a\nb"', `'/api'`, '`80`']), // docker run --env-file keeps quotes
])('%s=%s is refused, and shown unless it may be a secret', (name, text, reason) => {
  const isSecret = /^(SIGNING|NOTES)|[@?]/.test(name + text)
  const line = `${name} ${reason}${isSecret ? '' : `, not "${text}"`}`
  expect(problems({ [name]: text })).toEqual([line])
})

writeFileSync('secret', `${SECRET}\n`)
const PATHS = [
  resolve('secret').padStart(40, '/'),
  '/run/secrets/users/SIGNING_SECRET',
  '/var/run/secrets/x/SIGNING_SECRET',
]

test.each([
  ...PATHS.flatMap((path) => [
    [
      'SIGNING_SECRET',
      path,
      'must be the secret itself; put the path of a file in SIGNING_SECRET_FILE',
    ],
    [
      'SIGNING_SECRETS',
      `${SECRET}, ${path}`,
      'must be the secret itself; put the path of a file in SIGNING_SECRETS_FILE',
    ],
  ]),
  ...['\n', ',', ';', ' '].map((separator) => [
    'SIGNING_SECRET',
    SECRET + separator + SECRET,
    'must be one secret, on one line; SIGNING_SECRETS takes several',
  ]),
  ...[`${SECRET} ${SECRET}`, `${SECRET};${SECRET},${SECRET}`, `["${SECRET}","${SECRET}"]`].map(
    (list) => [
      'SIGNING_SECRETS',
      list,
      'must be separated by commas or lines, without brackets and quotes',
    ],
  ),
  ...['file:///x', 'sqlite:x', ':memory:'].map((url) => [
    'DATA_DIR',
    url,
    'must be a folder, not a URL',
  ]),
])('%s=%s, which means something else, is refused', (name, text, reason) => {
  expect(problems({ [name]: text })).toEqual([`${name} ${reason}`])
})

test.each([
  ['PORT', 'npm_config_port', '4000'],
  ['DOCS', 'npm_config_docs', ''], // --no-docs
  ['DATA_DIR', 'npm_config_data_dir', '/srv'],
])('%s is refused as an option, which npm takes for itself: %s=%s', (name, variable, value) => {
  const line = `${name} is a variable, and no option: npm takes the option for itself`
  expect(problems({ [variable]: value })).toEqual([line])
})

test.each(['api', '/api/', '//api', '/a%20b', '/./api', '/api/../x'])(
  'BASE_PATH=%s is refused',
  (path) => {
    expect(problems({ BASE_PATH: path })).toEqual([
      `BASE_PATH must be a path such as /api, of letters, digits and -._~, with no slash at its end, not "${path}"`,
    ])
  },
)

test('both variables for the secret are refused, at once with others', () => {
  const both = problems({ SIGNING_SECRET: SECRET, SIGNING_SECRETS: SECRET, PORT: 'x' })
  expect(both).toEqual([
    'PORT must be between 0 and 65535, not "x"',
    expect.stringMatching(/^SIGNING_SECRETS must not be set with SIGNING_SECRET; /),
  ])
})

writeFileSync('binary', Buffer.from(SECRET + '\xff', 'latin1'))

test('a secret in a file is read without the line end, also through a link, as Kubernetes mounts it', () => {
  symlinkSync('secret', 'link')
  expect(readConfig({ SIGNING_SECRET_FILE: 'link' }).SIGNING_SECRET).toBe(SECRET)
})

test.each([
  ['/dev/zero', {}, 'SIGNING_SECRET_FILE cannot be read: it is not a regular file'],
  ['binary', {}, 'not valid for encoding utf-8'],
  ['secret', { SIGNING_SECRET: SECRET }, 'SIGNING_SECRET_FILE must not be set with SIGNING_SECRET'],
])('a secret in the file %s with %j is refused: %s', (SIGNING_SECRET_FILE, more, reason) => {
  const line = expect.stringContaining(reason)
  expect(problems({ SIGNING_SECRET_FILE, ...more })).toEqual([line])
})

test('.env in the current folder adds to the environment, which wins, even if it is empty; values are trimmed', () => {
  const lines = '\uFEFFLOG_LEVEL=warn,HOST=::1,DATA_DIR=x, ,\t# note,STOP_DELAY=7'
  const more = `\n\texport  TOKEN_TTL\t= "5s"\t# note\nKEY='a  b#'`
  writeFileSync('.env', lines.replaceAll(',', '\r\n') + more)
  Object.assign(process.env, { HOST: ' 127.0.0.2\r', DATA_DIR: '' })
  const expected = { LOG_LEVEL: 'warn', HOST: '127.0.0.2', DATA_DIR: './data' }
  expect(loadConfig()).toMatchObject({ ...expected, TOKEN_TTL: 5, STOP_DELAY: 7_000 })
  expect(process.env).toMatchObject({ KEY: 'a  b#', HOST: '127.0.0.2', DATA_DIR: '' })
})

const RULE =
  '.env must have one NAME=value on each line, in UTF-8; put a value with # or a quote in (other) quotes'
test.each([
  ['a name with :', '\n# PORT\rPORT: 1\nLOG_LEVEL="debug"', 3],
  ['a # in a value without quotes', `HOST=x\r\nSIGNING_SECRET=${SECRET}#1`, 2],
  ['a quote without its end', 'PORT=1\nKEY= "a\nHOST=x', 2],
  ['UTF-16', Buffer.from('PORT=1\n', 'utf16le'), 1],
])('a .env with %s is refused, with the number of the line', (_, content, line) => {
  writeFileSync('.env', content)
  expect(() => loadConfig()).toThrow(new Error(`${RULE}: see line ${line}`))
})

test.each(['HOST=x\nPORT=1\nHOST=y', 'export HOST=x\n\n HOST = y'])(
  'a .env that has a name twice is refused: %j',
  (content) => {
    writeFileSync('.env', content)
    expect(() => loadConfig()).toThrow(new Error('.env has HOST twice: see line 3'))
  },
)

test('a .env that is a link to nothing is refused', () => {
  rmSync('.env', { force: true })
  symlinkSync('../shared/.env', '.env')
  expect(() => loadConfig()).toThrow('.env cannot be read: ENOENT')
  rmSync('.env')
})

test('a variable of the environment, even an empty one, wins over the file that .env names for it', () => {
  writeFileSync('.env', 'NOTES_URI_FILE=none\nSIGNING_SECRET_FILE=none')
  Object.assign(process.env, { NOTES_URI: '', SIGNING_SECRET: SECRET })
  expect(loadConfig()).toMatchObject({ NOTES_URI: undefined, SIGNING_SECRET: SECRET })
  delete process.env['NOTES_URI']
  writeFileSync('.env', 'USER_FILE=people.txt') // only those of secrets
  process.env['USER'] = 'root'
  expect(config.loadConfig({ USER_FILE: text()({ default: '' }) }).USER_FILE).toBe('people.txt')
  writeFileSync('.env', 'NOTES_URI_FILE=none')
  expect(() => loadConfig()).toThrow('NOTES_URI_FILE cannot be read')
  for (const name of ['NOTES_URI_FILE', 'SIGNING_SECRET_FILE', 'SIGNING_SECRET', 'USER_FILE'])
    delete process.env[name]
})

test('names in .env that are no variables of the service are told, but not refused: other programs may read them', () => {
  told.mockClear()
  const unknown =
    'TOKEN_TLL=5s\nHOST_FILE=x\nTOKEN_TTL_FILE=x\nport=1\ntoString=1\nc2VjcmV0IHNlY3JldCBzZQ=='
  writeFileSync('.env', `${unknown}\nHOST=::1\nNOTES_URI_FILE=\nOTEL_SERVICE_NAME=x`)
  loadConfig()
  const line =
    '.env has names that are no variables of the service: TOKEN_TLL, HOST_FILE, TOKEN_TTL_FILE, port, …, …'
  expect(told.mock.calls).toEqual([[line]])
  writeFileSync('.env', 'PORT=1')
  loadConfig()
  expect(told).toHaveBeenCalledTimes(1)
})

test('a .env that cannot be read is refused; one that is missing is not', () => {
  rmSync('.env')
  expect(loadConfig()).toEqual(readConfig(process.env))
  mkdirSync('.env')
  expect(() => loadConfig()).toThrow(/^\.env cannot be read: it is not a regular file/)
})

/** The lines of the error; none if there is no error. */
function problems(environment: NodeJS.ProcessEnv, of: Variables = variables): string[] {
  try {
    config.readConfig(environment, of)
  } catch (error) {
    return (error as Error).message.split('\n')
  }
  return []
}
