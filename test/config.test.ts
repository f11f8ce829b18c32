// The variables of the service. (How they are read: chassis/config.test.ts.)
import { expect, test } from '@jest/globals'
import { programVariables, variables } from '../src/config.ts'
import { InvalidConfig, readConfig } from './chassis/support/internals.ts'
import { SECRET } from './support/stores.ts'

test('every variable has a default', () => {
  expect(readConfig({}, variables)).toEqual({
    HOST: '127.0.0.1',
    PORT: 3000,
    OPS_HOST: '127.0.0.1',
    OPS_PORT: 9090,
    ALLOWED_HOSTS: [],
    BASE_PATH: '',
    MONGODB_URI: undefined,
    DATA_DIR: './data',
    SIGNING_SECRET: undefined,
    SIGNING_SECRETS: undefined,
    TOKEN_TTL: 86_400,
    BODY_LIMIT: 102_400,
    MAX_CONNECTIONS: 500,
    STOP_DELAY: 0,
    STOP_TIMEOUT: 8_000,
    DOCS: true,
    LOG_LEVEL: 'info',
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    warnings: [],
  })
})

const URI_RULE =
  'MONGODB_URI must start with mongodb:// or mongodb+srv://; percent-encode @ (%40), / (%2F), ? (%3F) and # (%23) in a password'

test.each(['localhost', 'mongodb://u:pa?ss@h', 'mongodb://u:pa@ss@h', 'mongodb://u:pa/ss@h/db'])(
  'MONGODB_URI=%s is refused',
  (MONGODB_URI) => expect(problems({ MONGODB_URI, SIGNING_SECRET: SECRET })).toEqual([URI_RULE]),
)

test.each([
  'ada:p%40ss%2Fw%23rd@host/db',
  'a,b:27018,[::1]:27019/?replicaSet=rs0',
  'host?tlsCAFile=/etc/ca.pem&appName=a%40b',
  'host/db?appName=@account@&tlsCertificateKeyFilePassword=p@ss',
])('MONGODB_URI=mongodb://%s is accepted', (rest) => {
  expect(problems({ MONGODB_URI: `mongodb://${rest}`, SIGNING_SECRET: SECRET })).toEqual([])
})

test('MongoDB without a secret is refused, at once with other problems; a program needs none', () => {
  const MONGODB_URI = 'mongodb+srv://localhost'
  const none = problems({ MONGODB_URI, PORT: 'x' })
  expect(none.at(-1)).toMatch(/^SIGNING_SECRET must be set with MONGODB_URI; /)
  expect(none.length).toBe(2)
  for (const name of ['SIGNING_SECRET', 'SIGNING_SECRETS'])
    expect(problems({ MONGODB_URI, [name]: SECRET })).toEqual([])
  expect(readConfig({ MONGODB_URI }, programVariables)).toMatchObject({ MONGODB_URI })
})

function problems(environment: Record<string, string>): string[] {
  try {
    readConfig(environment, variables)
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidConfig)
    return (error as InvalidConfig).message.split('\n')
  }
  return []
}
