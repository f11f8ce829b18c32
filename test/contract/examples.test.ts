// Every example in openapi.yaml, compared with what the service does: they differ only in ids and times.
import { describe, expect, test } from '@jest/globals'
import { contract } from '../../src/contract/document.ts'
import { openStore } from '../../src/store/open.ts'
import type { User, UserStore } from '../../src/store/user-store.ts'
import { expectContract } from '../support/contract.ts'
import { documentedBy, resolve, type Contract, type Documented } from '../support/coverage.ts'
import { failing } from '../support/failing-store.ts'
import {
  BODY_LIMIT,
  IMPATIENT,
  parseAnswers,
  startService,
  type Request,
} from '../support/service.ts'
import { sqlitePlace } from '../support/stores.ts'

type Any = any // eslint-disable-line -- parts of the contract, and responses
type Examples = Record<string, { value: Any }>

interface Operation {
  operationId?: string
  requestBody?: { content: { 'application/json': { examples: Examples } } }
}

const document = contract as unknown as Contract & { components: { parameters: Any; schemas: Any } }
const ID: string = document.components.parameters.id.example

/** The example bodies of each operation's requests. */
const bodies = Object.values(document.paths as Record<string, Record<string, Operation>>)
  .flatMap((item) => Object.values(item))
  .flatMap(({ operationId, requestBody }) =>
    operationId && requestBody
      ? [[operationId, requestBody.content['application/json'].examples] as const]
      : [],
  )
const body = (operation: string, name: string) =>
  bodies.find(([id]) => id === operation)![1][name]!.value

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
  /** Creates a user of the contract; from then on its id stands for the one that the service assigned. */
  create: (user: User) => Promise<void>
}

const ada = { id: ID, ...body('createUser', 'ada') }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'content-type': 'application/json' }

/** The requests that lead to each example, by operation (`*` is any), status and name. */
const scripts: Record<string, (scene: Scene, example: Any) => Promise<Response>> = {
  'listUsers 200 none': ({ send }) => send(),
  'listUsers 200 two': async ({ create, send }, users) => {
    expect(users).toEqual(users.toSorted((a: Any, b: Any) => (a.id < b.id ? -1 : 1))) // in order of creation
    for (const user of users) await create(user)
    return send()
  },
  'listUsers 400 unknown': ({ send }) => send({}, 'GET /users?page=2'),
  'listUsers 400 repeated': ({ send }) => send({}, 'GET /users?limit=1&limit=2'),
  'listUsers 400 large': ({ send }) => send({}, 'GET /users?limit=1001'),
  'createUser 201 ada': ({ send }) => send({ json: body('createUser', 'ada') }),
  'createUser 400 taken': async ({ create, send }) => {
    await create(ada)
    return send({ json: body('createUser', 'ada') })
  },
  'createUser 400 structured': ({ send }) => send({ json: { email: {} } }),
  'createUser 400 unreadable': ({ send }) => send({ body: '{"name":', headers: JSON_TYPE }),
  'readUser 200 ada': async ({ create, send }) => {
    await create(ada)
    return send()
  },
  'renameUser 400 absent': ({ send }) => send({ json: {} }),
  'renameUser 400 empty': ({ send }) => send({ json: { name: '' } }),
  'login 200 ada': async ({ create, send }) => {
    await create(ada)
    return send({ json: body('login', 'ada') })
  },
  'login 400 absent': ({ send }) => send({ json: {} }),
  'login 401 unknown': ({ send }) => send({ json: body('login', 'ada') }),
  '* 401 refused': ({ send }) => send({ authorization: undefined }),
  '* 404 unknown': ({ send }) => send({ json: { name: 'x' } }),
  '* 413 large': ({ send }) => send({ json: { name: 'x'.repeat(BODY_LIMIT) } }),
  '* 415 form': ({ send }) => send({ body: 'name=x', headers: FORM }),
  '* 500 store': ({ send }) => send({ json: { name: 'x', email: 'x' } }),
  '* 412 changed': async ({ create, send }) => {
    await create(ada)
    return send({ json: { name: 'x' }, headers: { 'if-match': '"x"' } })
  },
  '* 405 patch': ({ send }) => send(),
  'no operation 400 malformed': ({ exchange }) => exchange('nonsense\r\n\r\n'),
  'no operation 401 refused': ({ send }) => send({ authorization: undefined }, 'GET /users/x/y'),
  'no operation 404 unknown': ({ send }) => send({}, 'GET /nothing'),
  'no operation 408 slow': ({ exchange }) => exchange('GET / HTTP/1.1\r\n'),
  'no operation 413 large': ({ exchange }) =>
    exchange(
      `POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
    ),
  'no operation 431 large': ({ exchange }) =>
    exchange(`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n`),
}

const cases = documentedBy(document).flatMap((one) =>
  Object.entries(one.responses).flatMap(([status, reference]) => {
    const response = resolve(document, reference)
    const { examples = {} } = (response.content?.['application/json'] ?? {}) as Any
    return Object.entries(examples as Examples).map(([name, { value }]) => {
      const title = `${one.name} ${status} ${name}`
      return {
        title,
        one,
        status,
        response,
        value,
        script: scripts[title] ? title : `* ${status} ${name}`,
      }
    })
  }),
)

describe('the example of a response', () => {
  test.each(cases)('$title', async ({ one, status, response, value, script }) => {
    await inScene(one, script.includes(' 500 ') ? failing() : undefined, async (scene, ids) => {
      const actual = await scripts[script]!(scene, value)
      expect(actual.status).toBe(Number(status))
      expect(withIdsOf(claims(value), claims(actual.json), ids)).toEqual(claims(value))
      for (const [name, reference] of Object.entries(response.headers ?? {})) {
        const { example } = resolve(document, reference) as { example?: string }
        if (!example) continue
        expect(withIdsOf(example, actual.headers[name.toLowerCase()], ids)).toBe(example)
      }
    })
  })

  test('is there for every script of this test', () => {
    const used = new Set(cases.map(({ script }) => script))
    expect(Object.keys(scripts).filter((script) => !used.has(script))).toEqual([])
  })
})

const requests = bodies.flatMap(([operation, examples]) =>
  Object.entries(examples).map(([name, { value }]) => ({ operation, name, value })),
)

test.each(requests)('the example of a request: $operation $name', async ({ operation, value }) => {
  const one = documentedBy(document).find(({ name }) => name === operation)!
  await inScene(one, undefined, async ({ create, send }, ids) => {
    if (operation !== 'createUser') await create(ada)
    const { status, json } = await send({ json: value })
    expect(status).toBeLessThan(300)
    const id = json?.id ?? ids.get(ID)
    if (operation !== 'login') {
      expect((await send({}, `GET /users/${id}`)).json).toMatchObject(value)
    }
  })
})

test('the example of an id is valid', () => {
  expect(ID).toMatch(new RegExp(document.components.schemas.User.properties.id.pattern))
})

test('openapi.yaml has examples of responses, headers, requests and the id, and no others', () => {
  const paths = placesOf(document).filter(
    (path) => !/\.content\.application\/json\.examples$|\.headers\.Location\.example$/.test(path),
  )
  expect(paths).toEqual(['components.parameters.id.example'])
})

/** The paths of all examples in the document. */
function placesOf(node: Any, path: string[] = []): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    ['example', 'examples'].includes(key)
      ? [[...path, key].join('.')]
      : placesOf(value, [...path, key]),
  )
}

type Scenario = (scene: Scene, ids: Map<string, string>) => Promise<void>

/** @param given a store to use in place of a new one */
async function inScene(one: Documented, given: UserStore | undefined, scenario: Scenario) {
  const place = sqlitePlace()
  const store = given ?? (await openStore(place))
  const service = await startService(store, { bounds: IMPATIENT })
  const ids = new Map<string, string>() // from the contract's ids to the service's
  const line = () =>
    `${one.method?.toUpperCase() ?? 'PATCH'} ${one.path!.replace('{id}', ids.get(ID) ?? ID)}`
  const scene: Scene = {
    send: (request, other) => service.send(other ?? line(), request),
    async exchange(bytes) {
      const [response] = parseAnswers(await service.exchange(bytes))
      return { ...response!, json: expectContract('', '', response!) }
    },
    async create({ id, ...user }) {
      ids.set(id, (await store.create(user)).id)
    },
  }
  try {
    await scenario(scene, ids)
  } finally {
    await service.close()
    await store.close()
    await place.remove()
  }
}

/** A token as its header and its claims, with the time for which it is valid. */
function claims(json: Any): Any {
  if (!json?.token) return json
  const [header, { iat, exp, ...others }] = json.token
    .split('.')
    .slice(0, 2)
    .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return { token: { header, ...others, seconds: exp - iat } }
}

/** What the service returned, with the ids of the example in place of its own, one for one. */
function withIdsOf(example: Any, actual: Any, ids: Map<string, string>): Any {
  const id = /\b[0-9a-f]{24}\b/g
  const expected = JSON.stringify(example).match(id) ?? []
  const text = JSON.stringify(actual).replaceAll(id, (found) => {
    const name = expected.shift()
    if (!name) return found
    if (!ids.has(name) && ![...ids.values()].includes(found)) ids.set(name, found)
    return ids.get(name) === found ? name : found
  })
  return JSON.parse(text)
}
