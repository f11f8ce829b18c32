// Request bodies: which are accepted, which are refused and why. A refused one never reaches the handler.
import { expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import type Koa from 'koa'
import { validator } from '../../../src/chassis/contract/validate.ts'
import type { Guard } from '../../../src/chassis/index.ts'
import type { Request } from '../support/app.ts'
import { added, addNoteHead, responsesIn, startNotes, useNotes } from '../support/notes.ts'
import { CHUNKED, chunksOf, CLOSE } from '../support/requests.ts'

const NOT_COMPRESSED = 'the body must not be compressed'
const coded = (coding: string) => ({ 'content-encoding': coding })
const typed = (type: string | string[]) => ({ 'content-type': type })
const json = (body: string | Buffer, headers = {}) => ({
  body,
  headers: { ...typed('application/json'), ...headers },
})

const NOTE = '{"text":"x"}'
const JSON_TYPE = 'application/json'

const service = useNotes()
const fail = () => {
  throw new Error('reached')
}
const broken = useNotes({ addNote: fail, changeNote: fail })

test.each<[string, Request]>([
  ['a media type with empty parameters', json(NOTE, typed('application/json ; ;;x=";;"; '))],
  ['no content coding, in another letter case', json(NOTE, coded('IDENTITY'))],
  ['an empty content coding', json(NOTE, coded(''))],
  [
    'types of JSON',
    json(NOTE, typed([JSON_TYPE, 'Application/JSON ;x="text/plain, \\"";; charset=utf-8'])),
  ],
  ['a byte order mark', json(`\uFEFF${NOTE}`)],
  [
    'anything in a field that is ignored',
    json('{"text":"x","x":["\\ud800",{"\\udc00":1e-400}],"\\ud800":0.1234567890123456789}'),
  ],
])('POST /notes accepts %s', async (_, request) => {
  expect((await service().send('POST /notes', request)).status).toBe(201)
})

const MUST_BE_JSON = 'the body must be application/json'
const MUST_BE_OBJECT = 'the body must be a JSON object'
const NOT_UTF8 = 'the body is not valid UTF-8'
const NOT_JSON = 'the body is not valid JSON'

const surrogates = json('{"text":"\\ud800","tag":"\\udc00 lone"}')
const mustBeString = (field: string) => `field \`${field}\` must be string`
const mustBeText = `${mustBeString('tag')} or number or boolean or null`
const isRequired = (field: string) => `field \`${field}\` is required`
const ROUNDED =
  'field `tag` must not contain a number beyond ±(2^53 − 1), or one that would be rounded'
const noSurrogate = (field: string) => `field \`${field}\` must not contain a lone surrogate`

const CHANGE = 'PATCH /notes/1'
/** The request, the status and the message; POST /notes, unless another line is given. */
type Refused = [string, Request, number, string, line?: string]

const OTHER_TYPES: (string | string[])[] = [
  [JSON_TYPE, 'text/plain'],
  ['text/plain', JSON_TYPE],
  [`${JSON_TYPE}; charset=utf-8`, 'application/jsonp'],
  `${JSON_TYPE},`,
  `${JSON_TYPE}; x="a, ${JSON_TYPE}`,
]

const ROUNDED_NUMBERS =
  '9.123456789012345 1.0e-400 9007199254740992 -9007199254740993 12345678901234567890 -1e300 1E400 4503599627370497.3 0.1234567890123456789 0.10000000000000001 -1e-400'

// A form and a body that is too large: examples.test.ts.
test.each<Refused>([
  ['an array', { json: [{}] }, 400, MUST_BE_OBJECT],
  ['broken JSON', json('{"text":'), 400, NOT_JSON],
  ['no text', { json: { tag: 'x' } }, 400, isRequired('text')],
  ['a null', { json: { text: null } }, 400, isRequired('text')],
  ['an empty text', { json: { text: '' } }, 400, isRequired('text')],
  ['a number', { json: { text: 7 } }, 400, mustBeString('text')],
  ['a lone surrogate', surrogates, 400, noSurrogate('text')],
  ['no body', {}, 400, isRequired('text')],
  ['invalid UTF-8', json(Buffer.from('{"text":"\xff"}', 'latin1')), 400, NOT_UTF8],
  ['another JSON', { body: '{}', headers: typed('application/vnd.x+json') }, 415, MUST_BE_JSON],
  ...OTHER_TYPES.map((types): Refused => [
    `the media type ${String(types)}`,
    { body: '{}', headers: typed(types) },
    415,
    MUST_BE_JSON,
  ]),
  ['gzip', json(gzipSync('{}'), coded('gzip')), 415, NOT_COMPRESSED],
  ['an object where others are accepted', { json: { tag: {} } }, 400, mustBeText, CHANGE],
  ...ROUNDED_NUMBERS.split(' ').map((number): Refused => [
    `the number ${number}`,
    json(`{"tag":${number}}`),
    400,
    ROUNDED,
    CHANGE,
  ]),
  ['no body where no field is required', {}, 400, MUST_BE_OBJECT, CHANGE],
])('%s is refused', async (_, request, status, message, line = 'POST /notes') => {
  const response = await broken().send(line, request)
  const code = status === 400 ? 'body_invalid' : 'unsupported_media_type'
  expect([response.status, response.json]).toEqual([status, { message, code }])
})

const changeNote = ({ body }: { body: object }) => {
  const texts = Object.entries(body).map(([field, value]) => [field, String(value)])
  return { ...added({ body: Object.fromEntries(texts) }), status: 200 }
}
const asTexts = useNotes({ changeNote })

test.each([
  ['1E2', '100'],
  ['0.1000000000000000000', '0.1'],
  ['9007199254740991', '9007199254740991'],
  ['0.30000000000000004', '0.30000000000000004'],
  ['-0.00000015', '-1.5e-7'],
  ['"\\"1e-400"', '"1e-400'],
])('the value %s is kept, as %s', async (value, text) => {
  const { json: note } = await asTexts().send(CHANGE, json(`{"tag":${value}}`))
  expect(note).toMatchObject({ tag: text })
})

test('a type of 16 KB is refused at once', async () => {
  for (const part of [';', ' ', ';a=b ', ';a="\\a', `,${JSON_TYPE}`]) {
    const type = `${JSON_TYPE}${part.repeat(15_000 / part.length)}?`
    const { status } = await service().send('POST /notes', json(NOTE, typed(type)))
    expect(status).toBe(415)
  }
})

/** Checks a body whose only field has the schema `phone`. */
const validatePhone = (phone: object, value: unknown) => {
  const bodySchema = { type: 'object', properties: { phone } }
  return validator({ id: 'call', bodySchema })({ phone: value })
}

test.each([
  ['a text at any depth', { type: 'object' }, { a: [{ b: ['x', { c: '\ud800' }] }] }],
  ['a key', { type: 'object' }, { '\udfff': 1 }],
])('a field may not have a lone surrogate: in %s', (_, schema, value) => {
  const message = 'field `phone` must not contain a lone surrogate'
  expect(() => validatePhone(schema, value)).toThrow(message)
})

test('a field may have any other text, as deep as a body can be', () => {
  const depth = 50_000
  for (const value of ['\u{1F600}', '\ufffe', '\0', '\\ud800'])
    expect(validatePhone({ type: 'string' }, value)).toEqual({ phone: value })
  const deep: unknown = JSON.parse('['.repeat(depth) + ']'.repeat(depth))
  expect(validatePhone({}, deep)).toBeTruthy()
  const wrong: unknown = JSON.parse(`${'['.repeat(depth)}"\\ud800"${']'.repeat(depth)}`)
  expect(() => validatePhone({}, wrong)).toThrow('lone surrogate')
})

test.each([
  [{}, { type: 'object', minProperties: 1 }, 'the body must NOT have fewer than 1 prop'],
  [{}, { type: 'object', required: ['valueOf'] }, isRequired('valueOf')],
  [{}, { type: 'array' }, 'the body must be a JSON array'],
])('the body %j is refused by the schema %j', (body, bodySchema, message) => {
  expect(() => validator({ id: 'x', bodySchema })(body)).toThrow(message)
})

test.each([100, 1_000_000])('a limit of %d bytes is exact', async (bodyLimit) => {
  const service = await startNotes({}, { bodyLimit })
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    const status = async (size: number) =>
      (await service.send('POST /notes', json(NOTE.padEnd(size), headers))).status
    expect([await status(bodyLimit), await status(bodyLimit + 1)]).toEqual([201, 413])
  }
})

test('a body in chunks of one byte keeps its characters', async () => {
  const note = { text: 'x'.repeat(80), tag: '@\u{1F600}'.repeat(5) }
  const chunks = chunksOf(Buffer.from(JSON.stringify(note)).toString('latin1'))
  const request = Buffer.from(addNoteHead(CHUNKED + CLOSE) + chunks, 'latin1')
  const responses = responsesIn(await service().exchange(request))
  expect(responses).toMatchObject([{ status: 201, json: note }])
})

test('a handler has the body, and the context of Koa does not keep it', async () => {
  const kept: unknown[] = []
  let request: Koa.Request | undefined
  const guard: Guard<string> = (ctx, next) => {
    request = (ctx as unknown as Koa.Context).request
    return next()
  }
  const addNote = (input: Parameters<typeof added>[0]) => {
    kept.push(request?.body, request?.rawBody)
    return added(input)
  }
  const { send } = await startNotes({ addNote }, { guard })
  expect((await send('POST /notes', { json: { text: 'x' } })).json).toMatchObject({ text: 'x' })
  expect(kept).toEqual([undefined, ''])
})

test.each<[string, (request: Parameters<Guard<string>>[0]['req']) => unknown]>([
  ['reads a body', (request) => request.toArray()],
  ['sets the encoding of a body', (request) => request.setEncoding('utf8')],
])('a guard that %s is an error of the service', async (_, use) => {
  const guard: Guard<string> = async (ctx, next) => {
    await use(ctx.req)
    return next()
  }
  const { send, lines, close } = await startNotes({}, { guard })
  expect((await send('POST /notes', { json: { text: 'x' } })).status).toBe(500)
  await close()
  const cause = expect.stringContaining('the guard has read the body, or set its encoding')
  expect(lines.at(-1)).toMatchObject({ cause })
})
