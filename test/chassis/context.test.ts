// In whose name a request runs: its async context, its caller and its line in the log, among many at once.
import { expect, test } from '@jest/globals'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from '../../src/chassis/http/server.ts'
import type { Client, Guard } from '../../src/chassis/index.ts'
import { dial, listen } from './support/app.ts'
import { until } from './support/clients.ts'
import { added, addNote, startNotes } from './support/notes.ts'
import { CLOSE, get } from './support/requests.ts'

const COUNT = 32

const read = (as: string) => get('/notes', as)
const write = (as: string) => addNote({ text: 'x' }, as)
const writeLarge = (as: string) => addNote({ text: 'x'.repeat(6_000) }, as)

test.each([
  ['reads', [read], COUNT],
  ['writes', [write], COUNT],
  ['large bodies', [writeLarge], COUNT],
  ['pipelined requests', [read, write, writeLarge], COUNT],
  ['connections that wait for a place', [read], 4],
])(
  'of %s at once, each has its own caller, context and line',
  async (_, requests, maxConnections) => {
    const context = new AsyncLocalStorage<string>()
    let arrived = 0
    /** Runs nobody's requests in no context: there, that of another would show. */
    const guard: Guard<string> = async (ctx, next) => {
      arrived += 1
      const caller = ctx.get('X-Caller')
      ctx.req.identify(caller)
      await (caller === 'nobody' ? next() : context.run(caller, next))
    }
    const wrong: unknown[] = []
    const handle = async ({ caller, log }: Client<string>) => {
      const before = context.getStore()
      await until(() => arrived >= maxConnections)
      log['caller'] = caller
      const contexts = [before, context.getStore()].map((name = 'nobody') => name)
      if (contexts.some((name) => name !== caller)) wrong.push([caller, ...contexts])
    }
    const handlers: Parameters<typeof startNotes>[0] = {
      listNotes: (_, client) => handle(client).then(() => ({ status: 200, body: [] })),
      addNote: (input, client) => handle(client).then(() => added(input)),
    }
    const service = await startNotes(handlers, { guard, limits: { maxConnections } })
    const callers = Array.from({ length: COUNT }, (_, i) =>
      requests.map((_, j) => ['Ada', 'Grace', 'nobody'][(i + j) % 3]!),
    )
    await Promise.all(
      callers.map((names) => {
        const sent = names.map((caller, i) => requests[i]!(`X-Caller: ${caller}\r\n`))
        return service.exchange(sent.join('') + get('/nothing', `${CLOSE}X-Caller: nobody\r\n`))
      }),
    )
    await service.close()
    expect(wrong).toEqual([])
    const lines = service.lines.filter(({ operation }) => operation !== 'none')
    expect(lines.map((line) => line['caller']).sort()).toEqual(callers.flat().sort())
  },
)

test('from its arrival to the end of its response, also if its client leaves or its connection has waited for a place', async () => {
  const context = new AsyncLocalStorage<string>()
  const seen: string[] = []
  const note = (url = '', of = '') => seen.push(`${of} ${url} in ${context.getStore()}`)
  const { server, close } = createServer(
    async ({ url }, response) => {
      note(url, 'begin')
      if (url === '/leave') await once(response, 'close')
      response.end()
    },
    {
      observer: {
        onRequest({ url }) {
          return () => note(url, 'end')
        },
        onConnections: () => {},
        onDropped: () => {},
        onAbandoned: () => {},
        onMalformed: () => {},
      },
      limits: { maxConnections: 2 },
    },
  )
  const emit = server.emit.bind(server) as (event: string, ...args: unknown[]) => boolean
  // As OpenTelemetry does.
  server.emit = (event: string, ...args: unknown[]) =>
    event === 'request'
      ? context.run((args[0] as { url: string }).url, emit, event, ...args)
      : emit(event, ...args)
  const port = await listen(server)
  const urls = Array.from({ length: COUNT }, (_, i) => (i % 4 === 3 ? '/leave' : `/${i}`))
  await Promise.all(
    urls.map(async (url) => {
      const { socket } = dial(port)
      socket.write(get(url) + get(url, CLOSE))
      if (url === '/leave')
        await until(() => seen.includes('begin /leave in /leave')).then(() => socket.end())
      await once(socket, 'close')
    }),
  )
  await close(1_000)
  const of = (url: string) => (url === '/leave' ? [url] : [url, url])
  const expected = urls
    .flatMap(of)
    .flatMap((url) => ['begin', 'end'].map((event) => `${event} ${url} in ${url}`))
  expect(seen.sort()).toEqual(expected.sort())
})
