// The lines of the log. (How a process writes them: log.long.ts. What is logged of a request: http/server.test.ts.)
import { expect, test } from '@jest/globals'
import { createLogger, messageOf, prettyPrint } from '../../../src/chassis/telemetry/log.ts'

const CONTROLS = /(?!\n)\p{Cc}/u
const path = '/\x9b31m\x7f\x80\x1b[2J\r\x07é'

/** The line for some fields. */
function lineOf(fields: object): string {
  let line = ''
  createLogger('info', undefined, { write: (text) => void (line = text) }).info(fields, 'request')
  return line
}

test('lines have no control characters, and keep what they say', () => {
  expect(lineOf({ path })).not.toMatch(CONTROLS)
  expect(JSON.parse(lineOf({ path }))).toMatchObject({ path, msg: 'request' })
})

test('a terminal gets one line, however much it says', () => {
  const fields = { id: 'x'.repeat(100), caller: 'y'.repeat(100), location: 'z\n'.repeat(100) }
  const line = prettyPrint(JSON.stringify({ time: 0, level: 30, msg: 'request', ...fields }))
  expect(line).toMatch(/^.*\n$/)
})

test('a terminal gets no control characters of a request or an error', () => {
  const request = { time: 0, level: 30, msg: 'request', method: 'GET', path, status: 404, ms: 1 }
  const failure = { time: 0, level: 50, msg: path, err: { message: path, stack: `${path}\n at x` } }
  const [text = '', ...rest] = [request, failure].map((line) => prettyPrint(JSON.stringify(line)))
  expect(text).toMatch(/ GET \/\\u009b31m\\u007f\\u0080\\u001b\[2J\\u000d\\u0007é 404 1 ms \n$/)
  const aborted = { ...request, status: undefined, msg: 'response aborted' }
  expect(prettyPrint(JSON.stringify(aborted))).toContain('é response aborted 1 ms ')
  const colours = /\x1b\[\d+m/g // eslint-disable-line -- those that Node's inspect adds
  for (const line of [text, ...rest]) expect(line.replace(colours, '')).not.toMatch(CONTROLS)
  expect(rest[0]).toMatch(/^[\d:]{8} error: [^]*\n at x\n$/)
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
