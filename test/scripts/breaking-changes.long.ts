// Changes to openapi.yaml that oasdiff alone finds to break a client, or not.
import { expect, test } from '@jest/globals'
import { breaks, rowsOf } from './contract-changes.ts'

const BREAKING = `
  a path moves | paths /login -> /authenticate | POST /login: api path
  an operation goes | paths /users/{id} delete - | DELETE /users/{id}: api removed
  a method changes | paths /users/{id} put -> patch | PUT /users/{id}: api removed
  a path parameter changes its type | components parameters id schema type = integer | GET /users/{id}: for the \`path\` request parameter \`id\`, the type/format was changed from \`string\`
  a parameter is newly required | paths /users get parameters += { name: page, in: query, required: true, schema: { type: integer } } | GET /users: added the new required \`query\` request parameter \`page\`
  a success has another status | paths /users post responses 201 -> 200 | POST /users: removed the success response with the status \`201\`
  a field of an answer goes | schemas User properties email -; schemas User required = [id, name] | GET /users/{id}: removed the required property \`email\`
  a field of an answer is renamed | schemas Token properties token -> access_token; schemas Token required = [access_token] | POST /login: removed the required property \`token\`
  a field of an answer may be absent | schemas User required = [id, name] | GET /users/{id}: the response property \`email\` became optional
  a field of an answer may be null | schemas User properties name type = [string, 'null'] | GET /users/{id}: the response property \`name\` became nullable
  a field of an answer has another type | schemas User properties id type = integer | GET /users/{id}: the \`id\` response's property type/format changed
  errors have another field | schemas Error properties message -> error; schemas Error required = [error] | GET /users/{id}: removed the required property \`message\` from the response with the \`404\`
  a list becomes an object | paths /users get responses 200 content application/json schema type = object | GET /users: the response's body type/format changed
  an answer has another media type | paths /users/{id} get responses 200 content application/json -> text/xml | GET /users/{id}: removed the media type \`application/json\`
  a header goes | paths /users post responses 201 headers - | POST /users: the mandatory response header \`Location\` removed for the status \`201\`
  a header may be absent | paths /users post responses 201 headers Location required = false | POST /users: the response header \`Location\` became optional
  a new field of a body is required | schemas NewUser properties age = { type: integer }; schemas NewUser required = [age] | POST /users: added the new required request property \`age\`
  a field of a body goes | schemas NewUser properties email - | POST /users: removed the request property \`email\`
  a field of a body takes fewer types | schemas NewUser properties name type = [string, 'null'] | POST /users: the \`name\` request property type/format changed
  a field of a body takes no null | schemas NewUser properties name type = [string, number, boolean] | POST /users: the request property \`name\` became not nullable
  a field of a body must be longer | schemas NewName properties name minLength = 2 | PUT /users/{id}: the \`name\` request property's minLength was increased
  a field of a body must be shorter | schemas NewName properties name maxLength = 80 | PUT /users/{id}: the \`name\` request property's maxLength was set
  a field of a body has a pattern | schemas Login properties email pattern = '@' | POST /login: added the pattern \`@\` to the request property \`email\`
  a field of a body has a format | schemas NewUser properties email format = email | POST /users: the \`email\` request property type/format changed
  a body has another media type | paths /users post requestBody content application/json -> text/xml | POST /users: removed the media type \`application/json\` from the request body
`

test.each(rowsOf(BREAKING))('a client would break when %s', async (_, changes, sentence) => {
  expect(await breaks(changes)).toContainEqual(expect.stringContaining(sentence))
})

const HARMLESS = `
  a description changes | paths /users get description = x
  an example changes | components parameters id example = x
  an operation is deprecated | paths /users/{id} get deprecated = true
  a parameter is new and optional | paths /users get parameters += { name: q, in: query, schema: { type: string } }
  an error is new | paths /users/{id} get responses 429 = { description: x }
  a field of an answer is new | schemas User properties age = { type: integer }
  a field of an answer is new and always there | schemas User properties age = { type: integer }; schemas User required += age
  a field of a body is new | schemas NewUser properties age = { type: integer }
  a field of a body may be absent | schemas Login required = []
  a field of a body takes more | schemas NewName properties name minLength = 0
`

test.each(rowsOf(HARMLESS))('no client would break when %s', async (_, changes) => {
  expect(await breaks(changes)).toEqual([])
})
