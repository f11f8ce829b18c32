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
import { says, until } from '../support/clients.ts'
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

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `traceparent: 00-${TRACE}-b7ad6b7169203331-`
const TRACED = `${PARENT}01\r\ntracestate: ada=lovelace\r\n${CLOSE}`
const LIST = get('/notes', TRACED)
const ADD = addNote({ text: 'x' }, TRACED)
const CHANGE = ADD.replace('POST /notes', 'PATCH /notes/1')
const { ERROR, UNSET } = SpanStatusCode
test.each([
  ['GET /api/notes', LIST, 200, undefined, UNSET],
  ['GET', get('/nothing?x', TRACED), 404, 'path_not_found', UNSET],
  ['HTTP', LIST.replace('GET', 'PURGE'), 405, 'method_not_allowed', UNSET],
  ['POST /api/notes', ADD, 500, 'internal_error', ERROR],
  ['PATCH /api/notes/{id}', CHANGE, 200, 'internal_error', ERROR],
])(
  'the span of a request says how it ended, in the trace that it came with: %s',
  async (name, request, status, type, code) => {
    const { roots, lines } = await spansOf(request)
    const parentSpanContext = { traceId: TRACE, spanId: 'b7ad6b7169203331' }
    expect(roots).toMatchObject([{ name, status: { code }, events: [], parentSpanContext }])
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
    expect(lines[0]!['trace_id']).toBe(TRACE)
  },
)

test('the span of a request whose client left has no status, and says so; of one that HTTP refuses there is none', async () => {
  const { roots } = await spansOf(async (port) => {
    says('GET / HTTP/1.1\r\n\r\nGET /\0')(port)
    const socket = says(get('/notes/1'))(port)
    await until(() => arrived > 0)
    socket.destroy()
    await until(() => exporter.getFinishedSpans().length > 0)
  })
  expect(roots).toMatchObject([{ status: { code: UNSET }, attributes: { 'error.type': 'left' } }])
  expect(roots[0]!.attributes).not.toHaveProperty(['http.response.status_code'])
})

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

test('a handler runs in the span of its request, without tracestate; if that is not sampled, there are no spans', async () => {
  const { roots, calls } = await spansOf(LIST)
  const { spanId } = roots[0]!.spanContext()
  expect(sent).toEqual({ traceparent: `00-${TRACE}-${spanId}-01` })
  expect(calls).toMatchObject([{ parentSpanContext: { spanId } }])
  const unsampled = await spansOf(get('/notes', `${PARENT}00\r\n${CLOSE}`))
  expect(sent).toEqual({ traceparent: expect.stringMatching(`^00-${TRACE}-\\w{16}-00$`) })
  expect(unsampled).toMatchObject({ lines: [{ trace_id: TRACE }], roots: [], calls: [] })
})

test('a call of the store that fails says which kind of failure; one of no request has no span', async () => {
  const { calls } = await spansOf(ADD)
  expect(calls).toMatchObject([{ name: 'fail', status: { code: ERROR }, events: [] }])
  expect(calls[0]!.status).not.toHaveProperty('message')
  expect(calls[0]!.attributes).toEqual({
    'db.system.name': 'sqlite',
    'db.operation.name': 'fail',
    'error.type': 'ECONNREFUSED',
  })
  expect((await spansOf(async () => void (await store.find()))).calls).toEqual([])
})
