// Changes to openapi.yaml that oasdiff alone finds to break a client, or not.
import { describe, expect, test } from '@jest/globals'
import { breaks, ID, rename, type Change } from './contract-changes.ts'

describe('a client would break when', () => {
  test.each<[string, Change, string]>([
    ['a path moves', (c) => rename(c.paths, '/login', '/authenticate'), 'POST /login: api path'],
    ['an operation goes', (c) => delete c.paths[ID].delete, 'DELETE /users/{id}: api removed'],
    [
      'a method changes',
      (c) => rename(c.paths[ID], 'put', 'patch'),
      'PUT /users/{id}: api removed',
    ],
    [
      'a path parameter changes its type',
      (c) => (c.components.parameters.id.schema.type = 'integer'),
      'GET /users/{id}: for the `path` request parameter `id`, the type/format was changed from `string`',
    ],
    [
      'a parameter is newly required',
      (c) =>
        c.paths['/users'].get.parameters.push({
          name: 'page',
          in: 'query',
          required: true,
          schema: { type: 'integer' },
        }),
      'GET /users: added the new required `query` request parameter `page`',
    ],
    [
      'a success has another status',
      (c) => rename(c.paths['/users'].post.responses, '201', '200'),
      'POST /users: removed the success response with the status `201`',
    ],
    [
      'a field of an answer goes',
      (_, { User }) => {
        delete User.properties.email
        User.required = ['id', 'name']
      },
      'GET /users/{id}: removed the required property `email`',
    ],
    [
      'a field of an answer is renamed',
      (_, { Token }) => {
        rename(Token.properties, 'token', 'access_token')
        Token.required = ['access_token']
      },
      'POST /login: removed the required property `token`',
    ],
    [
      'a field of an answer may be absent',
      (_, { User }) => (User.required = ['id', 'name']),
      'GET /users/{id}: the response property `email` became optional',
    ],
    [
      'a field of an answer may be null',
      (_, { User }) => (User.properties.name.type = ['string', 'null']),
      'GET /users/{id}: the response property `name` became nullable',
    ],
    [
      'a field of an answer has another type',
      (_, { User }) => (User.properties.id.type = 'integer'),
      "GET /users/{id}: the `id` response's property type/format changed",
    ],
    [
      'errors have another field',
      (_, { Error }) => {
        rename(Error.properties, 'message', 'error')
        Error.required = ['error']
      },
      'GET /users/{id}: removed the required property `message` from the response with the `404`',
    ],
    [
      'a list becomes an object',
      (c) =>
        (c.paths['/users'].get.responses['200'].content['application/json'].schema.type = 'object'),
      "GET /users: the response's body type/format changed",
    ],
    [
      'an answer has another media type',
      (c) => rename(c.paths[ID].get.responses['200'].content, 'application/json', 'text/xml'),
      'GET /users/{id}: removed the media type `application/json`',
    ],
    [
      'a header goes',
      (c) => delete c.paths['/users'].post.responses['201'].headers,
      'POST /users: the mandatory response header `Location` removed for the status `201`',
    ],
    [
      'a header may be absent',
      (c) => (c.paths['/users'].post.responses['201'].headers.Location.required = false),
      'POST /users: the response header `Location` became optional',
    ],
    [
      'a new field of a body is required',
      (_, { NewUser }) => {
        NewUser.properties.age = { type: 'integer' }
        NewUser.required = ['age']
      },
      'POST /users: added the new required request property `age`',
    ],
    [
      'a field of a body goes',
      (_, { NewUser }) => delete NewUser.properties.email,
      'POST /users: removed the request property `email`',
    ],
    [
      'a field of a body takes fewer types',
      (_, { NewUser }) => (NewUser.properties.name.type = ['string', 'null']),
      'POST /users: the `name` request property type/format changed',
    ],
    [
      'a field of a body takes no null',
      (_, { NewUser }) => (NewUser.properties.name.type = ['string', 'number', 'boolean']),
      'POST /users: the request property `name` became not nullable',
    ],
    [
      'a field of a body must be longer',
      (_, { NewName }) => (NewName.properties.name.minLength = 2),
      "PUT /users/{id}: the `name` request property's minLength was increased",
    ],
    [
      'a field of a body must be shorter',
      (_, { NewName }) => (NewName.properties.name.maxLength = 80),
      "PUT /users/{id}: the `name` request property's maxLength was set",
    ],
    [
      'a field of a body has a pattern',
      (_, { Login }) => (Login.properties.email.pattern = '@'),
      'POST /login: added the pattern `@` to the request property `email`',
    ],
    [
      'a field of a body has a format',
      (_, { NewUser }) => (NewUser.properties.email.format = 'email'),
      'POST /users: the `email` request property type/format changed',
    ],
    [
      'a body has another media type',
      (c) => rename(c.paths['/users'].post.requestBody.content, 'application/json', 'text/xml'),
      'POST /users: removed the media type `application/json` from the request body',
    ],
  ])('%s', async (_, change, sentence) => {
    expect(await breaks(change)).toContainEqual(expect.stringContaining(sentence))
  })
})

describe('no client would break when', () => {
  test.each<[string, Change]>([
    ['a description changes', (c) => (c.paths['/users'].get.description = 'x')],
    ['an example changes', (c) => (c.components.parameters.id.example = 'x')],
    ['an operation is deprecated', (c) => (c.paths[ID].get.deprecated = true)],
    [
      'a parameter is new and optional',
      (c) =>
        c.paths['/users'].get.parameters.push({
          name: 'q',
          in: 'query',
          schema: { type: 'string' },
        }),
    ],
    ['an error is new', (c) => (c.paths[ID].get.responses['429'] = { description: 'x' })],
    ['a field of an answer is new', (_, { User }) => (User.properties.age = { type: 'integer' })],
    [
      'a field of an answer is new and always there',
      (_, { User }) => {
        User.properties.age = { type: 'integer' }
        User.required.push('age')
      },
    ],
    [
      'a field of a body is new',
      (_, { NewUser }) => (NewUser.properties.age = { type: 'integer' }),
    ],
    ['a field of a body may be absent', (_, { Login }) => (Login.required = [])],
    ['a field of a body takes more', (_, { NewName }) => (NewName.properties.name.minLength = 0)],
  ])('%s', async (_, change) => {
    expect(await breaks(change)).toEqual([])
  })
})
