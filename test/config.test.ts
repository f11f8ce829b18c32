// The variables of the service: its own rules. (Defaults, and how variables are read: chassis/config.test.ts.)
import { expect, test } from '@jest/globals'
import { programVariables, variables } from '../src/config.ts'
import { readConfig } from './chassis/support/internals.ts'
import { SECRET } from './support/stores.ts'

const RULE =
  'must start with mongodb:// or mongodb+srv://; percent-encode @ (%40), / (%2F), ? (%3F) and # (%23) in a password'
const WITHOUT_HOST = ['localhost', 'mongodb://h/x\ny', 'mongodb://u:pa?ss@h', 'mongodb://u:pa@ss@h']
test.each([...WITHOUT_HOST, 'mongodb://u:pa/ss@h/db'])('MONGODB_URI=%s is refused', (uri) => {
  const read = () => readConfig({ MONGODB_URI: uri, SIGNING_SECRET: SECRET }, variables)
  expect(read).toThrow(new Error(`MONGODB_URI ${RULE}`))
})

test.each([
  'mongodb+srv://localhost',
  'mongodb://ada:p%40ss%2Fw%23rd@host/db',
  'mongodb://a,b:27018,[::1]:27019/?replicaSet=rs0',
  'mongodb://host?tlsCAFile=/etc/ca.pem&appName=a%40b',
  'mongodb://host/db?appName=@account@&tlsCertificateKeyFilePassword=p@ss',
])('MONGODB_URI=%s is accepted with a secret', (MONGODB_URI) => {
  const given = { MONGODB_URI, SIGNING_SECRET: SECRET }
  expect(readConfig(given, variables)).toMatchObject(given)
})

test('MongoDB without a secret is refused, at once with others; programs need none', () => {
  const given = { MONGODB_URI: 'mongodb://localhost' }
  const lines = /^PORT must .*\nSIGNING_SECRET must be set with MONGODB_URI; .*$/
  expect(() => readConfig({ ...given, PORT: 'x' }, variables)).toThrow(lines)
  expect(readConfig({ ...given, SIGNING_SECRETS: SECRET }, variables)).toMatchObject(given)
  expect(readConfig(given, programVariables)).toMatchObject(given)
})

test.each(['mongodb://u:secret@h/x', ' MongoDB+SRV://secret', '"mongodb://secret"'])(
  'MONGO_URL=%s without MONGODB_URI is refused, and not shown; an empty MONGODB_URI chooses SQLite',
  (MONGO_URL) => {
    const message =
      'MONGODB_URI must be set, because MONGO_URL has a URI of MongoDB; MONGODB_URI= (empty) chooses SQLite'
    for (const own of [variables, programVariables]) {
      expect(() => readConfig({ MONGO_URL }, own)).toThrow(new Error(message))
      expect(readConfig({ MONGO_URL, MONGODB_URI: '' }, own).MONGODB_URI).toBeUndefined()
    }
    const given = { MONGODB_URI: 'mongodb://h', SIGNING_SECRET: SECRET }
    expect(readConfig({ MONGO_URL, ...given }, variables)).toMatchObject(given)
    expect(readConfig({ MONGO_URL: 'https://mongodb://h' }, variables)).toBeDefined()
  },
)
