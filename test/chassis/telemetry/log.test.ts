// The lines of the log. (How a process writes them: service.log.test.ts. What is logged of a request: http/server.test.ts.)
import { expect, jest, test } from '@jest/globals'
import { createLogger, messageOf } from '../../../src/chassis/telemetry/log.ts'

const path = '/\n\t\x9b31m\x7f\x80\x9f\x1b[2J\r\x07é'

/** The line for some fields. */
function lineOf(fields: object): string {
  let line = ''
  createLogger('info', undefined, { write: (text) => void (line = text) }).info(fields, 'request')
  return line
}

test('lines have no control characters, and keep what they say', () => {
  for (const fields of [
    { path, [path]: path },
    { err: new Error(path), [path]: path },
  ])
    expect(lineOf(fields)).toMatch(/^\P{Cc}+\n$/u)
  expect(JSON.parse(lineOf({ path }))).toMatchObject({ path, msg: 'request' })
})

test('what JSON cannot write costs no line and no other field', () => {
  const circle: { itself?: object } = {}
  circle.itself = circle
  expect(JSON.parse(lineOf({ path, big: 12n, circle }))).toMatchObject({ path, big: 12 })
  for (const fields of [[1], new Date(0), new URL('http://x/?token=1')])
    expect(JSON.parse(lineOf(fields))).toMatchObject({ level: 'info', msg: 'request' })
})

test('a line needs no fields and no message', () => {
  const lines: string[] = []
  const log = createLogger('info', undefined, { write: (line) => void lines.push(line) })
  log.info({ path })
  log.info({}, 'x')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ path }, { msg: 'x' }])
})

test('a line has the name of its level, and its time in UTC', () => {
  const time = jest.spyOn(Date, 'now')
  const lines: string[] = []
  const log = createLogger('info', undefined, { write: (line) => void lines.push(line) })
  const times = ['12:00:00.000', '12:00:00.007', '12:00:01.070', '11:59:59.999']
  const isoTimes = times.map((one) => `2026-11-28T${one}Z`)
  for (const iso of isoTimes) {
    time.mockReturnValue(Date.parse(iso))
    log.info('x')
  }
  const expected = isoTimes.map((iso) => ({ level: 'info', time: iso, msg: 'x' }))
  expect(lines.map((line) => JSON.parse(line))).toEqual(expected)
  time.mockRestore()
})

test.each([
  ['E11000 duplicate key error collection: a.b index: c_1 dup key: { c: "ada@x" }', 'c_1'],
  ['not authorized on a to execute command { find: "b", filter: { c: "ada@x" } }', 'command'],
  ['Index build failed: E11000 dup key: { c: "a\nada@x" }, found after { c: "ada@x" }', 'E11000'],
])('of a message of MongoDB, no value is written, nor the document: %s', (message, end) => {
  const cause = Object.assign(new Error(message), { op: { c: 'ada@x' } })
  const err = new Error('x', { cause })
  expect(messageOf(err.cause)).toMatch(new RegExp(`${end}$`))
  expect(lineOf({ err })).not.toContain('ada@x') // not in the stack either
})
