// Every rule of the specification and every row of the decisions, over HTTP, on each store.
import { describe, expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import type { components } from '../src/contract/openapi.ts'
import { BODY_LIMIT, useService, type Request } from './support/service.ts'
import { describeStores, useStore } from './support/stores.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'
const JSON_TYPE = { 'content-type': 'application/json' }
const NO_TOKEN = { authorization: undefined }
const REQUIRED = 'field `email` is required'
const NO_OBJECT = 'the body must be a JSON object'
const SURROGATE = Buffer.from('{"name":"\\ud800","email":"\\udc00 lone"}')

type NewUser = components['schemas']['NewUser']
const user = (id: string) => ({ params: { path: { id } } })

let made = 0
const someEmail = () => `user-${(made += 1)}@example.com`

describeStores((place) => {
  const service = useService(useStore(place))
  const send = (line: string, request?: Request) => service().send(line, request)
  const users = () => service().users
  const create = async (body: NewUser) => (await users().POST('/users', { body })).data!
  const read = async (id: string) => (await users().GET('/users/{id}', user(id))).data

  describe('POST /users', () => {
    test('answers 201 with the user and where it is', async () => {
      const email = someEmail()
      const { response, data } = await users().POST('/users', { body: { name: 'Ada', email } })
      expect(response.status).toBe(201)
      expect(data).toEqual({ id: expect.any(String), name: 'Ada', email })
      expect(response.headers.get('location')).toBe(`/users/${data!.id}`)
      expect(await read(data!.id)).toEqual(data)
    })

    test('answers 400, naming the email, when another user has it, and changes nothing', async () => {
      const ada = await create({ name: 'Ada', email: someEmail() })
      const body = { name: 'Eve', email: ada.email }
      const { response, error } = await users().POST('/users', { body })
      const message = `a user with email \`${ada.email}\` already exists`
      expect([response.status, error]).toEqual([400, { message }])
      expect(await read(ada.id)).toEqual(ada)
    })

    test.each<[string, NewUser, object]>([
      ['nothing at all', {}, { name: '', email: '' }],
      ['null', { name: null, email: null }, { name: '', email: '' }],
      ['empty texts', { name: '', email: '' }, { name: '', email: '' }],
      ['a number', { name: 7 }, { name: '7', email: '' }],
      ['a fraction', { name: -1.5 }, { name: '-1.5', email: '' }],
      ['zero and false', { name: 0, email: false }, { name: '0', email: 'false' }],
      ['a boolean', { name: true }, { name: 'true', email: '' }],
      [
        'other fields',
        { name: 'x', admin: true, constructor: 1 } as NewUser,
        { name: 'x', email: '' },
      ],
      ['an id', { id: ABSENT, name: 'x' } as NewUser, { name: 'x', email: '' }],
    ])('takes %s', async (_, body, stored) => {
      const made = await create(body)
      expect(made).toEqual({ id: expect.any(String), ...stored })
      expect(made.id).not.toBe(ABSENT)
      expect(await read(made.id)).toEqual(made)
      await users().DELETE('/users/{id}', user(made.id))
    })

    test('ignores a field named __proto__', async () => {
      const body = '{"name":"x","__proto__":{"email":"e"},"constructor":{"prototype":1}}'
      const { status, json } = await send('POST /users', { body, headers: JSON_TYPE })
      expect([status, json.name, json.email]).toEqual([201, 'x', ''])
    })

    test('takes gzip, and a body as large as the limit', async () => {
      const body = `{"name":"${'x'.repeat(BODY_LIMIT - 11)}"}`
      const whole = await send('POST /users', { body, headers: JSON_TYPE })
      expect([whole.status, whole.json.name.length]).toEqual([201, BODY_LIMIT - 11])
      const zipped = { body: gzipSync(body), headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }
      expect((await send('POST /users', zipped)).status).toBe(201)
    })

    test('takes a content coding in any letter case', async () => {
      const headers = { ...JSON_TYPE, 'content-encoding': 'GZip' }
      const { status } = await send('POST /users', { body: gzipSync('{"name":"x"}'), headers })
      expect(status).toBe(201)
    })

    test('takes JSON behind a byte order mark', async () => {
      const request = { body: '\uFEFF{"name":"x"}', headers: JSON_TYPE }
      expect((await send('POST /users', request)).json.name).toBe('x')
    })

    test('takes a media type in any letter case, with parameters', async () => {
      const headers = { 'content-type': 'Application/JSON; Charset="utf-8"' }
      expect((await send('POST /users', { body: '{"name":"x"}', headers })).status).toBe(201)
    })

    test('keeps emails apart that differ in case or spaces', async () => {
      const email = someEmail()
      for (const spelling of [email, email.toUpperCase(), ` ${email}`, `${email} `]) {
        expect((await create({ email: spelling })).email).toBe(spelling)
      }
    })
  })

  describe('a body that is refused', () => {
    const zip = { ...JSON_TYPE, 'content-encoding': 'gzip' }
    const large = `{"name":"${'x'.repeat(BODY_LIMIT)}"}`
    const refused: [string, string, Request, number, string][] = [
      [
        'a name that is an object',
        'POST',
        { json: { name: { $ne: 1 } } },
        400,
        'field `name` must be a string',
      ],
      [
        'an email that is an object',
        'POST',
        { json: { email: { $gt: '' } } },
        400,
        'field `email` must be a string',
      ],
      [
        'an email that is an array',
        'POST',
        { json: { email: ['a'] } },
        400,
        'field `email` must be a string',
      ],
      [
        'a number that is none',
        'POST',
        { body: '{"name":1e400}', headers: JSON_TYPE },
        400,
        'field `name` must be a string',
      ],
      ['an array', 'POST', { json: [{}] }, 400, NO_OBJECT],
      ['a text', 'POST', { json: 'x' }, 400, NO_OBJECT],
      ['a number', 'POST', { json: 7 }, 400, NO_OBJECT],
      ['null', 'POST', { json: null }, 400, NO_OBJECT],
      ['no body', 'POST', {}, 400, NO_OBJECT],
      ['an empty body', 'POST', { body: '', headers: JSON_TYPE }, 400, NO_OBJECT],
      [
        'broken JSON',
        'POST',
        { body: '{"name":', headers: JSON_TYPE },
        400,
        'the body is not valid JSON',
      ],
      [
        'JSON and more',
        'POST',
        { body: '{}{}', headers: JSON_TYPE },
        400,
        'the body is not valid JSON',
      ],
      [
        'broken UTF-8',
        'POST',
        { body: Buffer.from('{"name":"\xff"}', 'latin1'), headers: JSON_TYPE },
        400,
        'the body is not valid UTF-8',
      ],
      [
        'half a character',
        'POST',
        { body: Buffer.from('{"name":"\xf0\x9f\x98"}', 'latin1'), headers: JSON_TYPE },
        400,
        'the body is not valid UTF-8',
      ],
      [
        'a lone surrogate',
        'POST',
        { body: SURROGATE, headers: JSON_TYPE },
        400,
        'field `name` must not hold a lone surrogate',
      ],
      ['broken gzip', 'POST', { body: 'x', headers: zip }, 400, 'the body cannot be read'],
      [
        'half a gzip',
        'POST',
        { body: gzipSync('{}').subarray(0, 12), headers: zip },
        400,
        'the body cannot be read',
      ],
      [
        'a form',
        'POST',
        { body: 'email[$ne]=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        415,
        'the body must be application/json',
      ],
      [
        'a text that is JSON',
        'POST',
        { body: '{}', headers: { 'content-type': 'text/plain' } },
        415,
        'the body must be application/json',
      ],
      [
        'another JSON type',
        'POST',
        { body: '{}', headers: { 'content-type': 'application/vnd.api+json' } },
        415,
        'the body must be application/json',
      ],
      ['no media type', 'POST', { body: '{}' }, 415, 'the body must be application/json'],
      [
        'an unknown coding',
        'POST',
        { body: '{}', headers: { ...JSON_TYPE, 'content-encoding': 'x' } },
        415,
        'the content coding of the body is unknown',
      ],
      ['too large', 'POST', { body: large, headers: JSON_TYPE }, 413, 'the body is too large'],
      [
        'too large, of unknown length',
        'POST',
        { body: large, headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' } },
        413,
        'the body is too large',
      ],
      [
        'too large when unpacked',
        'POST',
        { body: gzipSync(large), headers: zip },
        413,
        'the body is too large',
      ],
      ['no name', 'PUT', { json: {} }, 400, 'field `name` is required'],
      ['a null name', 'PUT', { json: { name: null } }, 400, 'field `name` is required'],
      ['an empty name', 'PUT', { json: { name: '' } }, 400, 'field `name` must not be empty'],
      [
        'a name that is a number',
        'PUT',
        { json: { name: 7 } },
        400,
        'field `name` must be a string',
      ],
      [
        'a name that is a boolean',
        'PUT',
        { json: { name: true } },
        400,
        'field `name` must be a string',
      ],
      [
        'a name that is an array',
        'PUT',
        { json: { name: ['x'] } },
        400,
        'field `name` must be a string',
      ],
      ['no body', 'PUT', {}, 400, 'field `name` is required'],
      ['an array', 'PUT', { json: [] }, 400, NO_OBJECT],
      ['broken JSON', 'PUT', { body: '{', headers: JSON_TYPE }, 400, 'the body is not valid JSON'],
      [
        'a lone surrogate',
        'PUT',
        { body: SURROGATE, headers: JSON_TYPE },
        400,
        'field `name` must not hold a lone surrogate',
      ],
      [
        'a form',
        'PUT',
        { body: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        415,
        'the body must be application/json',
      ],
      ['too large', 'PUT', { body: large, headers: JSON_TYPE }, 413, 'the body is too large'],
    ]

    test.each(refused.filter(([, method]) => method === 'POST'))(
      'POST /users: %s',
      async (_, __, request, status, message) => {
        const before = (await send('GET /users')).text
        const answer = await send('POST /users', request)
        expect([answer.status, answer.json]).toEqual([status, { message }])
        expect((await send('GET /users')).text).toBe(before)
      },
    )

    test.each(refused.filter(([, method]) => method === 'PUT'))(
      'PUT /users/{id}: %s, before the user is looked up',
      async (_, __, request, status, message) => {
        const ada = await create({ name: 'Ada', email: someEmail() })
        for (const id of [ada.id, ABSENT]) {
          const answer = await send(`PUT /users/${id}`, request)
          expect([answer.status, answer.json]).toEqual([status, { message }])
        }
        expect(await read(ada.id)).toEqual(ada)
      },
    )

    test.each<[string, Request, number, string]>([
      ['no email', { json: {} }, 400, REQUIRED],
      ['a null email', { json: { email: null } }, 400, REQUIRED],
      ['an empty email', { json: { email: '' } }, 400, REQUIRED],
      ['no body', {}, 400, REQUIRED],
      ['an empty body', { body: '', headers: JSON_TYPE }, 400, REQUIRED],
      ['a number', { json: { email: 7 } }, 400, 'field `email` must be a string'],
      ['an operator', { json: { email: { $ne: null } } }, 400, 'field `email` must be a string'],
      ['an array', { json: { email: ['a'] } }, 400, 'field `email` must be a string'],
      [
        'a lone surrogate',
        { body: SURROGATE, headers: JSON_TYPE },
        400,
        'field `email` must not hold a lone surrogate',
      ],
      ['no object', { json: 'x' }, 400, NO_OBJECT],
      ['broken JSON', { body: '{', headers: JSON_TYPE }, 400, 'the body is not valid JSON'],
      [
        'a form',
        { body: 'email[$ne]=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        415,
        'the body must be application/json',
      ],
      ['too large', { body: large, headers: JSON_TYPE }, 413, 'the body is too large'],
    ])('POST /login: %s', async (_, request, status, message) => {
      const answer = await send('POST /login', { ...NO_TOKEN, ...request })
      expect([answer.status, answer.json]).toEqual([status, { message }])
    })
  })

  describe('GET /users', () => {
    test('lists the users in order of creation', async () => {
      const made = []
      for (let i = 0; i < 5; i += 1) made.push(await create({ name: `${i}`, email: someEmail() }))
      const { response, data } = await users().GET('/users')
      expect(response.status).toBe(200)
      expect(data!.slice(-5)).toEqual(made)
    })
  })

  test('only GET /users looks at its query', async () => {
    const json = { name: 'Ada', email: someEmail() }
    const made = await send('POST /users?limit=x&$where=1&%zz', { json })
    expect(made.status).toBe(201)
    const path = `/users/${made.json.id}?limit=x`
    expect((await send(`GET ${path}`)).json).toEqual(made.json)
    expect((await send(`PUT ${path}`, { json: { name: 'x' } })).status).toBe(204)
    expect((await send('POST /login?email=x', { json: { email: json.email } })).status).toBe(200)
    expect((await send(`DELETE ${path}`)).status).toBe(204)
  })

  describe('GET, PUT and DELETE /users/{id}', () => {
    test('read, rename and delete a user', async () => {
      const ada = await create({ name: 'Ada', email: someEmail() })
      expect(await read(ada.id)).toEqual(ada)
      const body = { name: 'Augusta', email: 'other@example.com', id: ABSENT, admin: true }
      const renamed = await users().PUT('/users/{id}', { ...user(ada.id), body })
      expect(renamed.response.status).toBe(204)
      expect(await read(ada.id)).toEqual({ ...ada, name: 'Augusta' })
      const deleted = await users().DELETE('/users/{id}', user(ada.id))
      expect(deleted.response.status).toBe(204)
      for (const gone of [
        await users().GET('/users/{id}', user(ada.id)),
        await users().DELETE('/users/{id}', user(ada.id)),
      ]) {
        expect([gone.response.status, gone.error!.message]).toEqual([404, 'no user has this id'])
      }
    })

    test('take a name of spaces, which is not empty', async () => {
      const { id } = await create({ email: someEmail() })
      const { error } = await users().PUT('/users/{id}', { ...user(id), body: { name: '  ' } })
      expect([error, (await read(id))!.name]).toEqual([undefined, '  '])
    })

    test.each([
      ABSENT,
      'abc',
      '7',
      '%00',
      '%zz',
      '..',
      '$ne',
      "'%20OR%201=1",
      '665f1c2e8b3f4a0012d4c00',
      '665F1C2E8B3F4A0012D4FFFF',
    ])('know no user with the id %s', async (id) => {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const json = method === 'PUT' ? { name: 'x' } : undefined
        const answer = await send(`${method} /users/${id}`, { json })
        expect([answer.status, answer.json.message]).toEqual([404, 'no user has this id'])
      }
    })

    test('know a user by its id exactly: not in upper case, not percent-encoded', async () => {
      const { id } = await create({ name: 'x' })
      const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
      for (const spelling of [`${id.slice(0, -1)}%`, encoded, `${id}%00`, `${id}%20`, `${id}a`]) {
        expect((await send(`GET /users/${spelling}`)).status).toBe(404)
      }
      expect((await send(`GET /users/${id}?x`)).status).toBe(200)
    })
  })

  describe('POST /login', () => {
    const logIn = (email: string) => users().POST('/login', { body: { email } })

    test('issues a token of one day, with the claims id, iat and exp', async () => {
      const ada = await create({ name: 'Ada', email: someEmail() })
      const { response, data } = await logIn(ada.email)
      expect([response.status, Object.keys(data!)]).toEqual([200, ['token']])
      const [header, claims] = data!.token
        .split('.')
        .slice(0, 2)
        .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
      expect(header).toEqual({ alg: 'HS256', typ: 'JWT' })
      expect(claims).toEqual({ id: ada.id, iat: expect.any(Number), exp: claims.iat + 86_400 })
      const headers = { Authorization: `Bearer ${data!.token}` }
      expect((await users().GET('/users/{id}', { ...user(ada.id), headers })).data).toEqual(ada)
    })

    test('answers 401 to an email that no user has, exactly as it is written', async () => {
      const { email } = await create({ email: someEmail() })
      for (const other of ['nobody@example.com', email.toUpperCase(), ` ${email}`, `${email}\0`]) {
        const { response, error } = await logIn(other)
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
        expect(error).toEqual({ message: 'no user has this email' })
      }
    })

    test('does not mind an invalid token', async () => {
      const { email } = await create({ email: someEmail() })
      const request = { authorization: 'Bearer x', json: { email } }
      expect((await send('POST /login', request)).status).toBe(200)
    })

    test('issues tokens that outlive their user', async () => {
      const { id, email } = await create({ email: someEmail() })
      const headers = { Authorization: `Bearer ${(await logIn(email)).data!.token}` }
      await users().DELETE('/users/{id}', user(id))
      expect((await users().GET('/users', { headers })).response.status).toBe(200)
      expect((await logIn(email)).response.status).toBe(401)
    })
  })
})
