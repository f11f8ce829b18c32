// What spans say, as the SDK has them when they end. (What a collector receives: tracing.long.ts.)
import { expect, test } from '@jest/globals'
import { context, propagation, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreFailure } from '../../../src/chassis/index.ts'
import { createMetrics } from '../../../src/chassis/telemetry/metrics.ts'
import { measure } from '../../../src/chassis/telemetry/measure.ts'
import { pathRedactor } from '../../../src/chassis/telemetry/path-redactor.ts'
import { createSpans } from '../../../src/chassis/telemetry/spans.ts'
import { dial } from '../support/app.ts'
import { until } from '../support/clients.ts'
import { addNote, notesContract, startNotes } from '../support/notes.ts'
import { CLOSE, get } from '../support/requests.ts'

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
propagation.setGlobalPropagator(new W3CTraceContextPropagator())
context.setGlobalContextManager(new AsyncLocalStorageContextManager())
const spans = createSpans(provider.getTracer('x'), {
  ...notesContract.contents(),
  BASE_PATH: '/api', // the server in this test has none
  ALLOWED_HOSTS: ['Notes.example.com'],
  redactPath: pathRedactor(notesContract.contents().operations.map(({ path }) => path)),
})

const store = measure(
  {
    system: 'sqlite',
    find: async () => 'found',
    fail: () => Promise.reject(new StoreFailure(new Error('Ada'), 'read Ada', 'ECONNREFUSED')),
  },
  ['find', 'fail'],
  createMetrics('x', 'test'),
  spans,
)
let sent: Record<string, string> = {}
let arrived = 0
const handlers: Parameters<typeof startNotes>[0] = {
  async listNotes() {
    await sleep(1)
    propagation.inject(context.active(), (sent = {}))
    await store.find()
    return { status: 200, body: [] }
  },
  addNote: () => store.fail(),
  async readNote(_, client) {
    arrived += 1
    await until(() => client.hasLeft)
    throw new Error('too late')
  },
  changeNote: () => ({ status: 200, body: brokenPages() }),
}
async function* brokenPages() {
  yield [{ text: 'x', tag: '' }]
  throw new StoreFailure(new Error('Ada'))
}

/** Uses a service. @returns its log, and the spans of requests and of calls of the store */
async function spansOf(use: string | ((port: number) => Promise<void>)) {
  exporter.reset()
  const { port, exchange, lines, close } = await startNotes(handlers, { spans })
  await (typeof use === 'string' ? exchange(use) : use(port))
  await close()
  const all = exporter.getFinishedSpans()
  const [roots, calls] = [SpanKind.SERVER, SpanKind.CLIENT].map((kind) =>
    all.filter((span) => span.kind === kind),
  )
  return { lines: lines.filter(({ id }) => id), roots: roots!, calls: calls! }
}

const LIST = get('/notes', CLOSE)
const ADD = addNote({ text: 'x' }, CLOSE)
const { ERROR, UNSET } = SpanStatusCode
test.each([
  ['GET /api/notes', LIST, 200, undefined, UNSET],
  ['GET', get('/nothing?x', CLOSE), 404, 'path_not_found', UNSET],
  ['HTTP', LIST.replace('GET', 'PURGE'), 405, 'method_not_allowed', UNSET],
  ['POST /api/notes', ADD, 500, 'internal_error', ERROR],
  [
    'PATCH /api/notes/{id}',
    ADD.replace('POST /notes', 'PATCH /notes/1'),
    200,
    'internal_error',
    ERROR,
  ],
])('the span of a request says how it ended: %s', async (name, request, status, type, code) => {
  const { roots, lines } = await spansOf(request)
  expect(roots).toMatchObject([{ name, status: { code }, events: [] }])
  const [method = '', route] = name.split(' ')
  expect(roots[0]!.attributes).toEqual({
    'http.request.method': method.replace('HTTP', '_OTHER'),
    'url.scheme': 'http',
    'url.path': request.split(/[ ?]/)[1]!.replace('nothing', '…'),
    'server.address': 'localhost',
    'http.response.status_code': status,
    ...(route && { 'http.route': route }),
    ...(type && { 'error.type': type }),
  })
  expect(lines[0]!['trace_id']).toBe(roots[0]!.spanContext().traceId)
})

test('the span of a request whose client left has no status, and says so', async () => {
  const { roots } = await spansOf(async (port) => {
    const { socket } = dial(port)
    socket.write(get('/notes/1'))
    await until(() => arrived > 0)
    socket.destroy()
    await until(() => exporter.getFinishedSpans().length > 0)
  })
  expect(roots).toMatchObject([{ status: { code: UNSET }, attributes: { 'error.type': 'left' } }])
  expect(roots[0]!.attributes).not.toHaveProperty(['http.response.status_code'])
})

test.each(['GET / HTTP/1.1\r\n\r\n', 'GET /\0 HTTP/1.1\r\n\r\n'])(
  'a request that HTTP refuses has no span: %j',
  async (request) => {
    expect((await spansOf(request)).roots).toEqual([])
  },
)

test.each([
  ['notes.example.COM:8080', 'notes.example.com', 8080],
  ['[::1]:1', '::1', 1],
  ['10.0.0.7', '10.0.0.7', undefined],
  ['ada-lovelace.localhost', undefined, undefined],
  ['[fe80::1%25ada]', undefined, undefined],
])(
  'the host %s is shown as %s: only names of the service, and addresses',
  async (host, ...shown) => {
    for (const request of [LIST.replace('localhost', host), get(`http://${host}/notes`, CLOSE)]) {
      const [{ attributes }] = (await spansOf(request)).roots as [ReadableSpan]
      expect([attributes['server.address'], attributes['server.port']]).toEqual(shown)
    }
  },
)

const TRACE = '0af7651916cd43dd8448eb211c80319c'

test.each(['01', '00'])(
  'a handler runs in the span of its request, in the trace that it came with, without tracestate: sampled %s',
  async (flags) => {
    const parent = `traceparent: 00-${TRACE}-b7ad6b7169203331-${flags}\r\n`
    const headers = `${parent}tracestate: ada=lovelace\r\n${CLOSE}`
    const { lines, roots, calls } = await spansOf(get('/notes', headers))
    const [span = '\\w{16}'] = roots.map((root) => root.spanContext().spanId)
    expect(sent).toEqual({ traceparent: expect.stringMatching(`^00-${TRACE}-${span}-${flags}$`) })
    expect(lines).toMatchObject([{ trace_id: TRACE }])
    const parents = [roots, calls].map(([one]) => one?.parentSpanContext?.spanId)
    expect(parents).toEqual(flags === '01' ? ['b7ad6b7169203331', span] : [undefined, undefined])
  },
)

test('a call of the store has a span in that of its request, and says which kind of failure', async () => {
  const { calls, roots } = await spansOf(ADD)
  const failed = { name: 'fail', status: { code: ERROR }, events: [] }
  expect(calls).toMatchObject([{ ...failed, parentSpanContext: roots[0]!.spanContext() }])
  expect(calls[0]!.status).not.toHaveProperty('message')
  expect(calls[0]!.attributes).toEqual({
    'db.system.name': 'sqlite',
    'db.operation.name': 'fail',
    'error.type': 'ECONNREFUSED',
  })
  expect((await spansOf(async () => void (await store.find()))).calls).toEqual([]) // of no request
})
