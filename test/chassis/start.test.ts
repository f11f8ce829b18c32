// A service in the process of its tests.
import { afterEach, expect, jest, test } from '@jest/globals'
import { defineService, integer, start, type Parts } from '../../src/chassis/index.ts'
import { until } from './support/clients.ts'
import { identifyAll, notesContract } from './support/notes.ts'

type Operations = Record<'listNotes', unknown>
const ids = notesContract
  .contents()
  .operations.map(({ id }) => [id, () => ({ status: 200, body: [] })])
const all = Object.fromEntries(ids)

/** A service of notes, and what its store does. */
function serviceOf(changes: Partial<Parts<Operations, string>> = {}) {
  const events: string[] = []
  const close = async () => void events.push('closed')
  const store = { description: 'nothing', oldest: async () => null, close }
  const parts = { guard: identifyAll, handlers: all, store, ...changes }
  const variables = { SIZE: integer(1, 9)({ default: 1 }) }
  return {
    events,
    service: defineService({ contract: notesContract, variables, open: async () => parts }),
  }
}

const isListening = () => process.getActiveResourcesInfo().includes('TCPServerWrap')

afterEach(() => void delete process.env['BASE_PATH'])

test('several services run at a time, each with its own variables and none of the environment, until they are stopped', async () => {
  process.env['BASE_PATH'] = '/environment'
  const { service, events } = serviceOf()
  const [plain, below] = await Promise.all([
    start(service, {}),
    start(service, { BASE_PATH: '/api' }),
  ])
  expect([plain.url, below.url]).toEqual([
    expect.stringMatching(/:\d+$/),
    expect.stringMatching(/:\d+\/api$/),
  ])
  for (const { url, opsUrl } of [plain, below]) {
    expect((await fetch(`${url}/notes`)).status).toBe(200)
    expect(await (await fetch(`${opsUrl}/readyz`)).text()).toBe('ready')
    const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
    for (const operation of ['guard', 'listNotes'])
      // Prometheus needs the 0 to see the first
      expect(metrics).toContain(`http_handlers_abandoned_total{operation="${operation}"} 0`)
  }
  await Promise.all([plain.stop(), plain.stop(), below.stop()])
  expect(events).toEqual(['closed', 'closed'])
  await until(() => !isListening())
})

const fail = () => {
  throw new Error('no')
}

test.each<[string, Partial<Parts<Operations, string>>, NodeJS.ProcessEnv, boolean]>([
  ['SIZE must be between 1 and 9, not "10"', {}, { SIZE: '10' }, false],
  ['`start` has no traces', {}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' }, false],
  ['`start` has no traces', {}, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x' }, false],
  ['cannot listen on OPS_HOST', {}, { OPS_HOST: '192.0.2.1' }, false],
  ['cannot listen on HOST and PORT: ', {}, { HOST: '192.0.2.1', OPS_HOST: '127.0.0.1' }, true],
  ['listNotes has no handler', { handlers: {} as typeof all }, {}, true],
  ['no', { onListening: fail }, {}, true],
])('a start that fails leaves nothing open: %s', async (message, changes, variables, isOpened) => {
  const { service, events } = serviceOf(changes)
  await expect(start(service, variables)).rejects.toThrow(message)
  expect(events).toEqual(isOpened ? ['closed'] : [])
  await until(() => !isListening())
})

test('an `open` that does not end is a warning every 10 s', async () => {
  const tick = jest.spyOn(globalThis, 'setInterval')
  const cleared = jest.spyOn(globalThis, 'clearInterval')
  const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true)
  const { service } = serviceOf()
  let go = () => {}
  const opening = new Promise<void>((resolve) => (go = resolve))
  const open = async (...[config, tools]: Parameters<typeof service.open>) => {
    await opening
    return service.open(config, tools)
  }
  const running = start({ ...service, open }, {})
  await until(() => tick.mock.calls.some(([, ms]) => ms === 10_000))
  const i = tick.mock.calls.findIndex(([, ms]) => ms === 10_000)
  const timer = tick.mock.results[i]!.value as NodeJS.Timeout
  tick.mock.calls[i]![0]()
  const lines = written.mock.calls.map(([line]) => String(line))
  written.mockRestore()
  go()
  const { stop } = await running
  expect(cleared).toHaveBeenCalledWith(timer)
  jest.restoreAllMocks()
  await stop()
  expect(lines.at(-1)).toContain('"msg":"`open` has not ended"')
})
