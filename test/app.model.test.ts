// The service over HTTP, compared with a model in memory: any requests, with awkward values, of one client and of
// several at a time. (Pages: store/user-store.test.ts.) MODEL_SEED=… repeats a run.
import { beforeEach, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { etagOf } from '../src/chassis/index.ts'
import type { Changes } from '../src/store/user-store.ts'
import { Model, OFTEN, type Request, type Response } from './support/model.ts'
import { rounds } from './support/rounds.ts'
import { send, useTwoServices } from './support/service.ts'
import { tokens } from './chassis/support/requests.ts'
import { describeStores } from './support/stores.ts'
import { anyText } from './chassis/support/text.ts'
import { newUser } from './support/users.ts'

const seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31)
const runs = { seed, numRuns: rounds(6, 150) }
process.stderr.write(`test/app.model.test.ts: MODEL_SEED=${seed}\n`)

/** A request whose id is that of a user created before, the nth, or another one. */
interface Template extends Omit<Request, 'id'> {
  nth: number
  other?: string | undefined
}

const text = fc.oneof(
  fc.constantFrom('', ' ', '\0', 'a\0b', '__proto__', 'constructor', 'toString', '$where', '$ne'),
  fc.constantFrom('{"$ne":null}', "' OR 1=1 --", '%', '_', 'null', '7', 'é', 'e\u0301', '\uFEFF'),
  fc.constantFrom('\u2028', '\u202E', '\u{1F4A9}', '\u{10FFFF}', '\uFFFF', 'x'.repeat(40_000)),
  anyText,
)
const awkward = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  fc.constantFrom(undefined, null, true, false, 0, -0, 7, [], {}, { $ne: 1 }, ['x'], '\uD800'),
)
const email = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a@example.com', 'A@example.com', 'b@example.com', 'b') },
  awkward,
)
const often = Object.entries(OFTEN).map(([field, values]) => [field, fc.constantFrom(...values)])
const changes: fc.Arbitrary<Required<Changes>> = fc.record(Object.fromEntries(often))
const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('Ada', 'Grace') }, awkward)
const ignored = fc.constantFrom(
  {},
  { id: '665f1c2e8b3f4a0012d4c001' },
  { admin: true },
  JSON.parse('{"__proto__":{"name":"x"}}') as object,
)
const body = fc.tuple(ignored, changes, name, email).map(([more, changes, name, email]) => {
  const fields: Request['body'] = { ...newUser(), ...more, ...changes, name, email }
  return fields
})

const template = fc.record<Template>({
  operation: fc.oneof(
    fc.constantFrom('createUser', 'renameUser'),
    fc.constantFrom('listUsers', 'readUser', 'deleteUser', 'login'),
  ),
  nth: fc.nat(),
  other: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    text.filter((id) => !['', '.', '..'].includes(id) && id.length < 100),
  ),
  body,
  ifHas: fc.option(changes, { nil: undefined }),
})

const request = (operation: Template['operation'], body: object = {}): Template => {
  return { operation, body: { ...newUser(), ...body }, nth: 0 }
}

const LINES: Record<Request['operation'], string> = {
  listUsers: 'GET /users',
  createUser: 'POST /users',
  readUser: 'GET /users/',
  renameUser: 'PUT /users/',
  deleteUser: 'DELETE /users/',
  login: 'POST /login',
}

describeStores((kind) => {
  const services = useTwoServices(kind)

  /** The users that were created, and first the id of none. */
  let created: { id: string }[]
  beforeEach(clear)
  async function clear() {
    created = [{ id: '665f1c2e8b3f4a0012d4c001' }]
    const { port } = services[0]!()
    const { json } = await send(port, 'GET /users')
    for (const { id } of json) await send(port, `DELETE /users/${id}`)
  }

  const fill = ({ nth, other, ...others }: Template): Request => {
    return { ...others, id: other ?? created[nth % created.length]!.id }
  }

  /** Sends a request to one of the two services. */
  async function ask(request: Request, service: number): Promise<Response> {
    const { operation, id, body, ifHas } = request
    const line = LINES[operation]
    const path = line.endsWith('/') ? encodeURIComponent(id) : ''
    const user = { ...created.find((one) => one.id === id), ...ifHas }
    const isConditional = /^(PUT|DELETE)/.test(line) && ifHas
    const { status, json } = await send(services[service]!().port, line + path, {
      ...(/^(POST|PUT)/.test(line) && { json: body }),
      ...(isConditional && { headers: { 'if-match': etagOf(user) } }),
    })
    if (operation === 'login' && status === 200) return [200, idIn(json.token)]
    if (status === 201) created.push(json)
    if (status < 300) return json === undefined ? [status] : [status, json]
    const [, taken] = /^a user with email `([^]*)` already exists$/.exec(json.message) ?? []
    return taken === undefined ? [status] : [status, taken]
  }

  function idIn(token: string): string {
    expect(tokens.verify(`Bearer ${token}`)).toMatchObject({ valid: true })
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).id
  }

  // SECURITY.md: No input makes the service fail.
  test('requests of several clients get responses that the model gives in some order', async () => {
    const client = fc.array(template, { minLength: 1, maxLength: 10 })
    const clients = fc.array(client, { minLength: 1, maxLength: 4 })
    const property = fc.asyncProperty(clients, async (clients) => {
      await clear()
      const calls: Call[] = []
      let now = 0
      const call = async (template: Template, client: number) => {
        const [request, began] = [fill(template), (now += 1)]
        const response = await ask(request, client % 2)
        calls.push({ request, response, began, ended: (now += 1) })
      }
      await call(request('createUser', { email: 'a@example.com' }), 0)
      await call(request('createUser', { email: 'b@example.com' }), 0)
      const inTurn = async (templates: Template[], client: number) => {
        for (const template of templates) await call(template, client)
      }
      await Promise.all(clients.map(inTurn))
      await call(request('listUsers'), 0)
      expect(isLinearizable(calls, new Model()) || `no order explains\n${show(calls)}`).toBe(true)
    })
    await fc.assert(property, runs)
  })
})

/** A request, its response, and when it was sent and answered. */
interface Call {
  request: Request
  response: Response
  began: number
  ended: number
}

/** Whether `model` gives these responses in some order of the calls (Herlihy and Wing 1990). */
function isLinearizable(calls: Call[], model: Model): boolean {
  const soonest = Math.min(...calls.map(({ ended }) => ended))
  const canBeNext = (call: Call, i: number) => {
    if (call.began > soonest) return false
    const next = model.copy()
    const expected = next.respond(call.request, call.response)
    return (
      isDeepStrictEqual(sorted(expected), sorted(call.response)) &&
      isLinearizable(calls.toSpliced(i, 1), next)
    )
  }
  return calls.length === 0 || calls.some(canBeNext)
}

/** Users who were created simultaneously can be listed in either order. */
const sorted = ([status, body]: Response): Response =>
  Array.isArray(body) ? [status, body.toSorted((a, b) => (a.id < b.id ? -1 : 1))] : [status, body]

const show = (calls: Call[]) => calls.map((call) => JSON.stringify(call).slice(0, 500)).join('\n')
