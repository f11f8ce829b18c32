// The service over HTTP against a plain model of it: whatever is asked, and however awkward the values.
// MODEL_SEED=… repeats a run, CHAOS=1 makes it a long one.
import { beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { etagOf } from '../src/http/preconditions.ts'
import { times } from './support/chaos.ts'
import { PlainUsers, type Answer, type Request } from './support/plain-users.ts'
import { send, tokens, useReplicas } from './support/service.ts'
import { describeStores } from './support/stores.ts'

const seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31)
process.stderr.write(`test/app-model.test.ts: MODEL_SEED=${seed}\n`)

/** A request whose path may have the id of a user that was created before: the nth, altered. */
interface Template extends Omit<Request, 'id'> {
  nth: number
  alter: (id: string) => string
}

const text = fc.oneof(
  fc.constantFrom('', ' ', '\0', 'a\0b', '__proto__', 'constructor', 'toString', '$where', '$ne'),
  fc.constantFrom('{"$ne":null}', "' OR 1=1 --", '%', '_', 'null', '7', 'é', 'e\u0301', '\uFEFF'),
  fc.constantFrom('\u2028', '\u202E', '\u{1F4A9}', '\u{10FFFF}', '\uFFFF', 'x'.repeat(100_000)),
  fc.string({ unit: 'binary' }), // of every plane
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
const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('Ada', 'Grace') }, awkward)
const others = fc.constantFrom(
  {},
  { id: '665f1c2e8b3f4a0012d4c001' },
  { admin: true },
  JSON.parse('{"__proto__":{"name":"x"}}') as object,
)
const body = fc
  .tuple(others, name, email)
  .map(([more, name, email]): Record<string, unknown> => ({ ...more, name, email }))

const template = fc.record<Template>({
  operation: fc.oneof(
    fc.constantFrom('createUser', 'renameUser'),
    fc.constantFrom('listUsers', 'readUser', 'deleteUser', 'login'),
  ),
  nth: fc.nat(),
  alter: fc.oneof(
    { weight: 9, arbitrary: fc.constant((id: string) => id) },
    fc.constantFrom(
      (id: string) => id.toUpperCase().replace(/^\d+$/, 'X'),
      (id: string) => `${id}0`,
      (id: string) => id.slice(1),
      (id: string) => `${id}\0`,
    ),
    text.filter((id) => !['', '.', '..'].includes(id) && id.length < 100).map((id) => () => id),
  ),
  body,
  limit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  ifName: fc.option(fc.constantFrom('Ada', 'Grace', ''), { nil: undefined }),
})

const on = (operation: Template['operation'], body: object, nth = 0): Template => {
  return { operation, body: { ...body }, nth, alter: (id) => id }
}

/** Counterexamples that were found, shrunk, and mended: what a run finds is added here. */
const KEPT: [string, Template[]][] = [
  [
    'texts hold a NUL, at which the SQLite library ends them',
    [on('createUser', { name: 'a\0b', email: '\0' }), on('login', { email: '\0' })],
  ],
  [
    'a name is that of a property that all objects have',
    [
      on('createUser', { name: '__proto__', email: 'constructor' }),
      on('renameUser', { name: 'toString' }, 1),
      on('login', { email: '__proto__' }),
    ],
  ],
]

const LINES = {
  listUsers: 'GET /users',
  createUser: 'POST /users',
  readUser: 'GET /users/',
  renameUser: 'PUT /users/',
  deleteUser: 'DELETE /users/',
  login: 'POST /login',
}

describeStores((kind) => {
  const { stores, services } = useReplicas(kind, () => 2)

  /** The ids of the users that were created. */
  let known: string[]
  let emails: Map<string, string>
  beforeEach(clear)
  async function clear() {
    known = ['665f1c2e8b3f4a0012d4c001']
    emails = new Map()
    for await (const page of stores[0]!.list()) {
      for (const { id } of page) await stores[0]!.remove(id)
    }
  }

  const fill = ({ nth, alter, ...others }: Template): Request => {
    return { ...others, id: alter(known[nth % known.length]!) }
  }

  /** A page needs an id to begin behind, and a list that others change meanwhile is no moment's. */
  const whole = (given: Template): Template => ({ ...given, limit: undefined })
  const pageable = (given: Template): Template => ({ ...given, alter: (id) => id })

  /** Sends a request to one of the two services, which share their store. */
  async function ask(request: Request, service: 0 | 1): Promise<Answer> {
    const { operation, id, body, limit, ifName } = request
    const line = LINES[operation]
    const path = line.endsWith('/') ? encodeURIComponent(id) : ''
    const query = operation === 'listUsers' && limit ? `?limit=${limit}&after=${id}` : ''
    const user = { id, name: ifName ?? '', email: emails.get(id) ?? '' }
    const { status, headers, json } = await send(services[service]!.port, line + path + query, {
      ...(/^(POST|PUT)/.test(line) && { json: body }),
      ...(/^(PUT|DEL)/.test(line) &&
        ifName !== undefined && { headers: { 'if-match': etagOf(user) } }),
    })
    const next = /after=(\w+)>; rel="next"/.exec(headers['link'] as string)?.[1]
    if (next) return [status, json, next]
    if (operation === 'login' && status === 200) return [200, bearerOf(json.token)]
    if (status < 300) {
      if (status === 201) known.push(json.id)
      if (status === 201) emails.set(json.id, json.email)
      return json === undefined ? [status] : [status, json]
    }
    const [, taken] = /^a user with email `([^]*)` already exists$/.exec(json.message) ?? []
    return taken === undefined ? [status] : [status, taken]
  }

  function bearerOf(token: string): string {
    expect(tokens.verify(`Bearer ${token}`)).toEqual({ valid: true })
    return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).id
  }

  describe('asked one thing after the other', () => {
    class Ask implements fc.AsyncCommand<PlainUsers, unknown> {
      readonly template: Template
      constructor(template: Template) {
        this.template = template
      }
      check = () => true
      async run(model: PlainUsers) {
        const request = fill(this.template)
        const seen = await ask(request, this.template.nth % 2 ? 1 : 0)
        expect(seen).toEqual(model.answer(request, seen))
      }
      toString = () => describeTemplate(this.template)
    }

    const expectModel = async (commands: Iterable<fc.AsyncCommand<PlainUsers, unknown>>) => {
      await clear()
      await fc.asyncModelRun(() => ({ model: new PlainUsers(), real: null }), commands)
    }
    const all = new Ask(on('listUsers', {}))

    test.each(KEPT)('it answers as the model does, when %s', (_, templates) =>
      expectModel([...templates.map((given) => new Ask(given)), all]),
    )

    test('it answers as the model does', async () => {
      const any = template.map((given) => new Ask(given.limit ? pageable(given) : given))
      const commands = fc.commands([any], { maxCommands: 80 })
      await fc.assert(
        fc.asyncProperty(commands, async (asked) => expectModel([...asked, all])),
        { seed, numRuns: times(150, 3_000) },
      )
    })
  })

  describe('asked by several clients at once', () => {
    const clients = fc.array(fc.array(template.map(whole), { minLength: 1, maxLength: 6 }), {
      minLength: 2,
      maxLength: 4,
    })

    test('it answers as the model does in some order that the clients could not tell apart', async () => {
      const property = fc.asyncProperty(clients, async (clients) => {
        await clear()
        const model = new PlainUsers()
        const calls: Call[] = []
        let now = 0
        const call = async (template: Template, client: number) => {
          const [request, began] = [fill(template), (now += 1)]
          const answer = await ask(request, client % 2 ? 1 : 0)
          calls.push({ request, answer, began, ended: (now += 1) })
        }
        const create = (email: string) => call(on('createUser', { name: 'x', email }), 0)
        await create('a@example.com')
        await create('b@example.com')
        await Promise.all(
          clients.map(async (templates, client) => {
            for (const template of templates) await call(template, client)
          }),
        )
        await call(on('listUsers', {}), 0)
        expect(canExplain(calls, model) || `no order explains\n${show(calls)}`).toBe(true)
      })
      await fc.assert(property, { seed, numRuns: times(150, 3_000) })
    })
  })
})

/** A request and its answer, and when the client began to wait and had it. */
interface Call {
  request: Request
  answer: Answer
  began: number
  ended: number
}

/** Whether `model` would give these answers in some order of the calls (Herlihy and Wing 1990, linearizability). */
function canExplain(calls: Call[], model: PlainUsers): boolean {
  const soonest = Math.min(...calls.map(({ ended }) => ended))
  const isNext = (call: Call, i: number) => {
    if (call.began > soonest) return false
    const next = model.copy()
    const expected = next.answer(call.request, call.answer)
    return (
      isDeepStrictEqual(sorted(expected), sorted(call.answer)) &&
      canExplain(calls.toSpliced(i, 1), next)
    )
  }
  return calls.length === 0 || calls.some(isNext)
}

/** Of a list, users who were created at once may be in either order. */
const sorted = ([status, body]: Answer): Answer =>
  Array.isArray(body) ? [status, body.toSorted((a, b) => (a.id < b.id ? -1 : 1))] : [status, body]

const show = (calls: Call[]) => calls.map((call) => JSON.stringify(call).slice(0, 500)).join('\n')

const describeTemplate = ({ operation, nth, alter, body, limit, ifName }: Template): string =>
  `${operation}(${nth}, ${alter.toString()}, ${JSON.stringify(body).slice(0, 200)}, ${limit}, ${ifName})`
