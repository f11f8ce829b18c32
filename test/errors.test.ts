// Every error becomes one response, and those that are the service's fault a line in the log.
import { expect, test } from '@jest/globals'
import { failing } from './support/failing-store.ts'
import { everyOperation } from './support/operations.ts'
import { startService } from './support/service.ts'

const INTERNAL_ERROR = '{"message":"internal error","code":"internal_error"}'

test.each(everyOperation)(
  'when the store fails, %s is a 500; only the log has the cause',
  async (_, call) => {
    const service = await startService(failing())
    const { response, error } = await call(service.users)
    const sent = { message: 'the data store failed', code: 'internal_error' }
    expect([response.status, error]).toEqual([500, sent])
    await service.close()
    const cause = 'cannot use the data store: the cause'
    expect(service.lines).toMatchObject([{ level: 50, status: 500, code: 'internal_error', cause }])
  },
)

test('the line of a request has the code of its response, and that of no other', async () => {
  const service = await startService(failing())
  for (const path of ['/x', '/docs']) await fetch(`http://127.0.0.1:${service.port}${path}`)
  await service.close()
  expect(service.lines.map(({ code }) => code)).toEqual(['path_not_found', undefined])
})

test('an error of another class is in the log, too', async () => {
  const mistake = Object.assign(new TypeError('a mistake', { cause: 'why' }), { code: 'X' })
  const find = () => Promise.reject(mistake)
  const service = await startService(failing({ find }))
  const { status, json } = await service.send('GET /users/x')
  expect([status, JSON.stringify(json)]).toEqual([500, INTERNAL_ERROR])
  await service.close()
  const err = { type: 'TypeError', message: 'a mistake', code: 'X', cause: { message: 'why' } }
  expect(service.lines[0]).toMatchObject({ err })
})

test('the log does not have the document or the email that the driver attaches to its error', async () => {
  const message = 'E11000 duplicate key error index: email dup key: { email: "secret\nx" }'
  const cause = Object.assign(new Error(message), { op: { email: 'secret' }, code: 7 })
  const service = await startService(failing({}, cause))
  await service.users.GET('/users')
  await service.close()
  expect(JSON.stringify(service.lines)).not.toContain('secret')
  const shown = expect.stringContaining('E11000 duplicate key error index: email')
  expect(service.lines).toMatchObject([{ status: 500, cause: shown }])
})
