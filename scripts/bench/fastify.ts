// The peer: the same service, written like a good Fastify project. It uses the store of the service, makes the
// key once, and has schemas for bodies and responses. For each request it does what the service does: an
// id, one line of JSON in the log, one histogram.
import fastifyJwt from '@fastify/jwt'
import Fastify, { LogController } from 'fastify'
import { randomUUID } from 'node:crypto'
import { Histogram } from 'prom-client'
import type { User } from './scenarios.ts'

const { PORT, MONGODB_URI, DATA_DIR = '', SIGNING_SECRET = '' } = process.env
const STORE = new URL('../../../dist/src/store/', import.meta.url).href
const { openStore } = await import(`${STORE}open.js`)
const { pagesOf } = await import(`${STORE}pages.js`)
const users = await openStore({ MONGODB_URI, DATA_DIR })

async function listUsers(): Promise<User[]> {
  const found: User[] = []
  for await (const page of pagesOf(users)) found.push(...page)
  return found
}

const schema = (...fields: string[]) => {
  const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]))
  return { type: 'object', required: fields, properties }
}
const user = schema('id', 'name', 'email')
const LIST = { schema: { response: { 200: { type: 'array', items: user } } } }
const READ = { schema: { response: { 200: user } } }
const CREATE = { schema: { body: schema('name', 'email'), response: { 201: user } } }
const LOGIN = { schema: { body: schema('email'), response: { 200: schema('token') } } }

const app = Fastify({
  logger: { base: null },
  logController: new LogController({ disableRequestLogging: true }),
  requestIdHeader: 'x-request-id',
  genReqId: () => randomUUID(),
})

const labelNames = ['route', 'method', 'status']
const duration = new Histogram({ name: 'request_seconds', help: 'of a request', labelNames })
app.addHook('onRequest', (request, reply, done) => {
  void reply.header('X-Request-Id', request.id)
  done()
})
app.addHook('onResponse', ({ method, url, routeOptions, log }, reply, done) => {
  const { statusCode: status, elapsedTime: ms } = reply
  duration.observe({ route: routeOptions.url, method, status }, ms / 1000)
  log.info({ method, path: url, status, ms }, 'request')
  done()
})

const sign = { expiresIn: '1d' }
await app.register(fastifyJwt, { secret: SIGNING_SECRET, sign, verify: { algorithms: ['HS256'] } })

await app.register(async (guarded) => {
  guarded.addHook('onRequest', async (request, reply) => {
    try {
      await request.jwtVerify()
    } catch {
      return reply.code(401).send({ message: 'a valid bearer token is required' })
    }
  })

  guarded.get('/users', LIST, listUsers)
  guarded.get<{ Params: User }>('/users/:id', READ, async ({ params }, reply) => {
    return (await users.find(params.id)) ?? reply.code(404).send({ message: 'user not found' })
  })
  guarded.post<{ Body: User }>('/users', CREATE, async ({ body }, reply) => {
    const created = await users.create({ name: body.name, email: body.email })
    return reply.code(201).header('Location', `/users/${created.id}`).send(created)
  })
})

app.post<{ Body: User }>('/login', LOGIN, async ({ body }, reply) => {
  const found = await users.findByEmail(body.email)
  if (!found) return reply.code(401).send({ message: 'no user has this email' })
  return { token: app.jwt.sign({ id: found.id }) }
})

await app.listen({ port: Number(PORT), host: '127.0.0.1' })
