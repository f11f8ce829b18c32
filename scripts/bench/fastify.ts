// The peer: the same service as a good Fastify project writes it. The same drivers, the key made once,
// schemas for bodies and answers; none of what Fastify has no idiom for (batches, remembered tokens).
import fastifyJwt from '@fastify/jwt'
import Fastify from 'fastify'
import { openMongo, openSqlite, type Users } from './fastify-stores.ts'

const user = {
  type: 'object',
  properties: { id: { type: 'string' }, name: { type: 'string' }, email: { type: 'string' } },
}
const text = { type: 'string', minLength: 1 }
const body = (...fields: string[]) => ({
  type: 'object',
  required: fields,
  properties: Object.fromEntries(fields.map((field) => [field, text])),
})

const { PORT, MONGODB_URI, DATA_DIR, SIGNING_SECRET } = process.env
const users: Users = MONGODB_URI ? await openMongo(MONGODB_URI) : openSqlite(DATA_DIR!)

const app = Fastify()
app.addHook('onClose', () => users.close())
await app.register(fastifyJwt, {
  secret: SIGNING_SECRET!,
  sign: { expiresIn: '1d' },
  verify: { algorithms: ['HS256'] },
})

await app.register(async (guarded) => {
  guarded.addHook('onRequest', async (request, reply) => {
    try {
      await request.jwtVerify()
    } catch {
      return reply.code(401).send({ message: 'a valid bearer token is required' })
    }
  })

  guarded.get('/users', { schema: { response: { 200: { type: 'array', items: user } } } }, () =>
    users.list(),
  )

  guarded.post<{ Body: { name: string; email: string } }>(
    '/users',
    { schema: { body: body('name', 'email'), response: { 201: user } } },
    async (request, reply) => {
      const { name, email } = request.body
      const created = await users.create(name, email)
      if (!created) return reply.code(400).send({ message: `a user with email ${email} exists` })
      return reply.code(201).header('Location', `/users/${created.id}`).send(created)
    },
  )

  guarded.get<{ Params: { id: string } }>(
    '/users/:id',
    { schema: { response: { 200: user } } },
    async (request, reply) => {
      const found = await users.find(request.params.id)
      return found ?? reply.code(404).send({ message: 'no user has this id' })
    },
  )
})

app.post<{ Body: { email: string } }>(
  '/login',
  {
    schema: {
      body: body('email'),
      response: { 200: { type: 'object', properties: { token: { type: 'string' } } } },
    },
  },
  async (request, reply) => {
    const found = await users.findByEmail(request.body.email)
    if (!found) return reply.code(401).send({ message: 'no user has this email' })
    return { token: app.jwt.sign({ id: found.id }) }
  },
)

await app.listen({ port: Number(PORT), host: '127.0.0.1' })
