// What operators meet: the probes and the metrics, on a port of their own.
import { beforeAll, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { dial } from './chassis/support/app.ts'
import { serve, usePlace, type Program } from './support/program.ts'
import { version } from './support/readme.ts'
import { postHead, send } from './support/service.ts'
import { databaseOf, SECRET } from './support/stores.ts'
import { newUser } from './support/users.ts'
import { databaseIn } from '../src/store/open.ts'
import { createdAt } from '../src/store/user-id.ts'

const place = usePlace()
let service: Program
let port: number

beforeAll(async () => {
  service = serve(place, { SIGNING_SECRET: SECRET, STOP_DELAY: '1s', MAX_CONNECTIONS: '10' })
  port = Number(new URL(await service.listening()).port)
})

const ops = (path: string, method?: string) => service.probe(path, method)

test.each([
  ['GET', '/livez', 200, 'alive'],
  ['GET', '/readyz', 200, 'ready'],
  ['HEAD', '/readyz', 200, ''],
  ['GET', '/readyz?verbose', 200, 'ready'],
  ['GET', '/users', 404, 'not found: this port has /livez, /readyz and /metrics'],
])('the port for operators responds to %s %s with %i', async (method, path, status, text) => {
  expect(await ops(path, method)).toMatchObject({ status, text })
})

test.each(['/livez', '/readyz', '/metrics'])('the public port has no %s', async (path) => {
  expect((await send(port, `GET ${path}`)).status).toBe(404)
})

// SECURITY.md: Connections to the port for operators
test('the port for operators has room for 100 connections, and the public port goes on', async () => {
  const opsPort = Number(new URL(service.ops()).port)
  const sockets = Array.from({ length: 300 }, () => dial(opsPort).socket)
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect((await send(port, 'GET /nothing')).status).toBe(404)
  expect(await ops('/livez')).toMatchObject({ status: 200 })
  while (sockets.filter(({ destroyed }) => !destroyed).length > 100) await sleep(5)
  for (const socket of sockets) socket.destroy()
})

describe('/metrics', () => {
  /** The lines of a metric. */
  const lines = async (name: string) =>
    (await ops('/metrics')).text.split('\n').filter((line) => line.startsWith(name))
  const inFlight = async () => (await lines('http_requests_in_flight '))[0]
  /** A request ends, and is counted, just after the client has its response. */
  const allEnded = async () => {
    while ((await inFlight()) !== 'http_requests_in_flight 0') await sleep(5)
  }

  test('is the text format of Prometheus', async () => {
    const { headers, text } = await ops('/metrics')
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(text).toMatch(/^http_request_duration_seconds_bucket\{le="10"/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m)
    expect(text).toMatch(/^process_resident_memory_bytes /m)
    expect(text).toContain(`users_service_build_info{version="${version}"} 1\n`)
    expect(text).toContain(`store_info{database="SQLite in ${databaseIn(place.DATA_DIR)}"} 1\n`)
    expect(text).toMatch(/^users_service_ready 1$/m)
    expect(text).toMatch(/^http_connections \d+$/m)
    expect(text).toMatch(/^http_connections_limit 10$/m)
    expect(text).toMatch(/^store_oldest_record_timestamp_seconds \+Inf$/m)
  })

  test.each([
    'http_request_duration_seconds_count{operation="login",method="POST",status="401"}',
    'http_request_duration_seconds_count{operation="readUser",method="GET",status="500"}',
    'tokens_refused_total{reason="invalid"}',
  ])('has %s at 0 before the first, so that alerts see it', async (series) => {
    expect(await lines(series)).toEqual([`${series} 0`])
  })

  test('has requests by operation, method and status, and never by path', async () => {
    const { json: user } = await send(port, 'POST /users', { json: newUser() })
    const requests = [`GET /users/${user.id}`, 'GET /users/nobody', 'GET /nobody', 'PURGE /users']
    for (const line of requests) await send(port, line)
    await allEnded()
    const counts = (await lines('http_request_duration_seconds_count')).join('\n')
    for (const [operation, method, status] of [
      ['createUser', 'POST', 201],
      ['readUser', 'GET', 200],
      ['readUser', 'GET', 404],
      ['none', 'PURGE', 405],
    ]) {
      const labels = `operation="${operation}",method="${method}",status="${status}"`
      expect(counts).toContain(`http_request_duration_seconds_count{${labels}} 1`)
    }
    const { text } = await ops('/metrics')
    const line = /"operation":"readUser","status":404.*"ms":([\d.]+)/
    while (!line.test(service.output.stdout)) await sleep(5)
    const seconds = Number(line.exec(service.output.stdout)![1]) / 1_000
    const sum = /_sum\{operation="readUser",method="GET",status="404"\} (\S+)/.exec(text)![1]
    expect(Number(sum)).toBeCloseTo(seconds, 5)
    for (const secret of ['nobody', user.id, user.email]) expect(text).not.toContain(secret)
  })

  test('has the requests in flight', async () => {
    const { socket } = dial(port)
    socket.write(postHead('Content-Length: 9\r\n'))
    while ((await inFlight()) === 'http_requests_in_flight 0') await sleep(5)
    expect(await inFlight()).toBe('http_requests_in_flight 1')
    socket.destroy()
    await allEnded()
  })

  test('has the operations of the store', async () => {
    await send(port, 'GET /users')
    const counts = await lines('store_operation_duration_seconds_count')
    expect(counts).toContain('store_operation_duration_seconds_count{operation="list"} 1')
    const failures = await lines('store_operation_failures_total')
    const names = failures.map((line) => /"(\w+)"/.exec(line)![1])
    expect(names.sort()).toEqual(['create', 'find', 'findByEmail', 'list', 'remove', 'rename'])
  })

  test('says when the oldest user was created, also when another program deletes them', async () => {
    const [{ id }] = (await send(port, 'GET /users')).json
    const oldest = async () => (await lines('store_oldest'))[0]!.split(' ')[1]
    while ((await oldest()) === '+Inf') await sleep(100)
    expect(await oldest()).toBe(`${Number(createdAt(id)) / 1000}`)
    databaseOf(place).exec('DELETE FROM users')
    while ((await oldest()) !== '+Inf') await sleep(100)
  })
})
