// Every response of openapi.yaml occurs, and is what its example says, but for ids and times. (Those of requests:
// npm run generate.)
import { expect, test } from '@jest/globals'
import jwt from 'jsonwebtoken'
import { openStore } from '../src/store/open.ts'
import type { User } from '../src/store/user-store.ts'
import { BODY_LIMIT, type Request } from './chassis/support/app.ts'
import type { Documented } from './chassis/support/contract.ts'
import { hostCheck } from './chassis/support/internals.ts'
import { failing } from './support/failing-store.ts'
import { withNumberedIds } from './support/readme.ts'
import { contract, documented, responsesIn, startService, statusOfCode } from './support/service.ts'
import { sqlitePlace } from './support/stores.ts'
import { newUser } from './support/users.ts'

type Any = any // eslint-disable-line -- parts of the contract, and responses
type Examples = Record<string, { value: Any }>

const { paths, components }: Any = contract
const ID: string = components.parameters.id.example

interface Response {
  status: number
  headers: Record<string, Any>
  json: Any
}

/** A new service, and the operation that has the example. */
interface Scene {
  /** Sends a request to the operation, unless another line is given. */
  send: (request?: Request, line?: string) => Promise<Response>
  exchange: (bytes: string) => Promise<Response>
  /** Creates a user of the contract, and puts its id into the path of the operation. */
  create: (user: User) => Promise<void>
}

const two: User[] =
  paths['/users'].get.responses['200'].content['application/json'].examples.two.value
const newAda = paths['/users'].post.requestBody.content['application/json'].examples.ada.value
const ada = { id: ID, ...newAda }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
/** Limits of a service that waits only briefly for the headers of a request. */
const SHORT = { headersTimeout: 100, connectionsCheckingInterval: 20 }
const [GET, LONG] = ['GET / HTTP/1.1\r\n', 'x'.repeat(20_000)]
const JSON_TYPE = { 'content-type': 'application/json' }

/** `request`, after Ada was created. */
const withAda =
  (request: Request = {}) =>
  async ({ create, send }: Scene) => {
    await create(ada)
    return send(request)
  }

/** What leads to each response, by operation (`*` is any), status and example, if there is one. */
const scripts: Record<string, (scene: Scene, example: Any) => Promise<Response>> = {
  'listUsers 200 none': ({ send }) => send(),
  'listUsers 200 two': async ({ create, send }, users) => {
    expect(users).toEqual(users.toSorted((a: Any, b: Any) => (a.id < b.id ? -1 : 1)))
    for (const user of users) await create(user)
    return send()
  },
  'listUsers 400 unknown': ({ send }) => send({}, 'GET /users?page=2'),
  'listUsers 400 repeated': ({ send }) => send({}, 'GET /users?limit=1&limit=2'),
  'listUsers 400 large': ({ send }) => send({}, 'GET /users?limit=1001'),
  'createUser 201 ada': ({ send }) => send({ json: newAda }),
  'createUser 400 taken': withAda({ json: newAda }),
  'createUser 400 structured': ({ send }) => send({ json: { email: {} } }),
  'createUser 400 unreadable': ({ send }) => send({ body: '{"name":', headers: JSON_TYPE }),
  'readUser 200 ada': withAda(),
  'readUser 304': withAda({ headers: { 'if-none-match': '*' } }),
  'renameUser 400 absent': ({ send }) => send({ json: {} }),
  'login 200 ada': withAda({ json: newAda }),
  'login 400 absent': ({ send }) => send({ json: {} }),
  'login 401 unknown': ({ send }) => send({ json: newAda }),
  '* 204': withAda({ json: { name: 'x' } }),
  '* 400 malformed': withAda({ json: { name: 'x' }, headers: { 'if-match': 'x' } }),
  '* 401 refused': ({ send }) => send({ authorization: undefined }),
  '* 404 unknown': ({ send }) => send({ json: { name: 'x' } }),
  '* 412 changed': withAda({ json: { name: 'x' }, headers: { 'if-match': '"x"' } }),
  '* 412 weak': withAda({ json: { name: 'x' }, headers: { 'if-match': 'W/"x"' } }),
  '* 413 large': ({ send }) => send({ json: { name: 'x'.repeat(BODY_LIMIT) } }),
  '* 415 form': ({ send }) => send({ body: 'name=x', headers: FORM }),
  '* 500 store': ({ send }) => send({ json: { name: 'x', email: 'x' } }),
  '* default slow': ({ exchange }) => exchange(GET),
  '* default host': ({ exchange }) => exchange(`${GET}Host: example.com\r\n\r\n`),
  '* default large': ({ exchange }) => exchange(`${GET}X: ${LONG}\r\n`),
}

/** The codes that no operation has. They occur in docs/reference.test.ts and http/server.test.ts. */
const OUTSIDE = ['path_not_found', 'method_not_allowed', 'request_malformed']

const cases = documented.flatMap((one) =>
  Object.entries(one.responses).flatMap(([status, { headers = {}, content }]) => {
    const none = { '': { value: undefined } }
    const examples: Examples = content?.['application/json']?.examples ?? none
    return Object.entries(examples).map(([name, { value }]) => {
      const [title, general] = [one.name, '*'].map((id) => `${id} ${status} ${name}`.trim())
      const script = scripts[title!] ? title! : general!
      return { title, one, status, headers, value, script }
    })
  }),
)

test.each(cases)('the response $title', async ({ title, one, status, headers, value, script }) => {
  if (!scripts[script]) throw new Error(`add a script that leads to this response: '${title}'`)
  await inScene(one, script, async (scene) => {
    const actual = await scripts[script]!(scene, value)
    expect(one.responses[actual.status] ? `${actual.status}` : 'default').toBe(status)
    expect(comparable(actual.json)).toEqual(comparable(value))
    for (const [name, { example, required }] of Object.entries(headers)) {
      const sent = actual.headers[name.toLowerCase()]
      if (example && (required || sent)) expect(comparable(sent)).toEqual(comparable(example))
    }
  })
})

test('every code occurs, and is explained with its status', () => {
  const codes = components.schemas.ErrorMessage.properties.code['x-extensible-enum']
  const inExamples = cases.flatMap(({ value }) => value?.code ?? [])
  expect([...new Set([...inExamples, ...OUTSIDE])].sort()).toEqual(codes.toSorted())
  expect([...statusOfCode.keys()]).toEqual(codes)
})

const queries = documented.flatMap((one) => {
  const parameters: Any[] = paths[one.path][one.method].parameters ?? []
  return parameters.filter((parameter) => parameter.in === 'query').map((query) => ({ one, query }))
})

test.each(queries)(
  'parameter $query.name of $one.name accepts the value in its description, and is not ignored',
  async ({ one, query: { name, description, schema } }) => {
    const SUCH_AS = /such as (?:`([^`]+)`|(\w+))/i
    expect(description).toMatch(SUCH_AS)
    const [, quoted, value = quoted] = SUCH_AS.exec(description)!
    await inScene(one, '', async ({ create, send }) => {
      for (const user of two) await create(user)
      const ask = async (text: string) =>
        send({}, `GET ${one.path}?${name}=${encodeURIComponent(text)}`)
      expect((await ask(value!)).status).toBe(200)
      const all = await send({}, `GET ${one.path}`)
      const some = await ask(schema.minimum ?? value)
      expect([some.status, some.json]).not.toEqual([200, all.json])
    })
  },
)

test('a user has each of its fields: all are required', () => {
  const { required, properties } = components.schemas.User
  expect(required.toSorted()).toEqual(Object.keys(properties).sort())
})

test('the examples of lines, and of a link to the next page, are those of the users', () => {
  const { headers, content } = paths['/users'].get.responses['200']
  const lines: string[] = content['application/x-ndjson'].examples.two.value.trim().split('\n')
  expect(lines.map((line): Any => JSON.parse(line))).toEqual(two)
  const link = `</users?limit=2&after=${two[1]!.id}>; rel="next"`
  expect(headers.Link.description).toContain(`\`${link}\``)
})

test('the example of an ETag is that of the example user, in headers and parameters', async () => {
  const { 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch } = components.parameters
  const described = [ifMatch, ifNoneMatch].map(({ description }) => /"[\w-]{43}"/.exec(description))
  const tags = [components.headers.ETag.example, ...described.map(String)]
  const readUser = documented.find(({ name }) => name === 'readUser')!
  await inScene(readUser, '', async (scene) => {
    const { etag } = (await withAda()(scene)).headers
    expect(tags).toEqual([etag, etag, etag])
  })
})

/** Runs a scenario in a new service: for a 500 on a store that fails, for a 408 with short time-outs. */
async function inScene(one: Documented, script: string, scenario: (scene: Scene) => Promise<void>) {
  const place = sqlitePlace()
  const store = script.includes(' 500 ') ? failing() : await openStore(place)
  const service = await startService(store, {
    limits: script.includes(' slow') ? SHORT : undefined,
    hostCheck: (bound) => hostCheck(bound, []),
  })
  let path = one.path.replace('{id}', ID)
  try {
    await scenario({
      send: (request, line) => service.send(line ?? `${one.method.toUpperCase()} ${path}`, request),
      exchange: async (bytes) => responsesIn(await service.exchange(bytes))[0]!,
      async create(user) {
        await store.create({ ...newUser(), ...user })
        path = one.path.replace('{id}', user.id)
      },
    })
  } finally {
    await service.close()
    await store.close()
    await place.remove()
  }
}

/** A value with its ids numbered, and with a token as its header and its claims, the times as a duration. */
function comparable(json: Any): Any {
  if (json === undefined) return undefined
  const text = JSON.stringify(json?.token ? { token: contentOf(json.token) } : json)
  return JSON.parse(
    withNumberedIds(text)
      .replace(/^"[0-9a-f-]{36}"$/, '"request id"')
      .replace(/^"\\"[\w-]{43}\\""$/, '"ETag"'),
  )
}

function contentOf(token: string): object {
  const { header, payload }: Any = jwt.decode(token, { complete: true })
  const { iat, exp, ...others } = payload
  return { header, ...others, seconds: exp - iat }
}
