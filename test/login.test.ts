// POST /login end to end on each store, as the specification describes it.
import { expect, test } from '@jest/globals'
import { CALLER } from '../src/auth/guard.ts'
import { useService } from './support/service.ts'
import { type Request } from './chassis/support/app.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const send = (line: string, request?: Request) => service().send(line, request)

  test('the line of a log-in has the id of the user who logged in; that of a failed one has none', async () => {
    const { id, email } = await store().create(newUser())
    for (const json of [{ email }, { email: `x${email}` }]) await send('POST /login', { json })
    const logIns = service().lines.slice(-2)
    expect(logIns).toMatchObject([
      { operation: 'login', status: 200, [CALLER]: id },
      { operation: 'login', status: 401 },
    ])
    expect(logIns[1]).not.toHaveProperty(CALLER)
  })

  test('the log-in ignores a query and an invalid token; its token stays valid after the user was deleted', async () => {
    const { id, email } = await store().create(newUser())
    const logIn = () => send('POST /login?email=x', { authorization: 'Bearer x', json: { email } })
    const { status, headers, json } = await logIn()
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    await send(`DELETE /users/${id}`)
    const authorization = `Bearer ${json.token}`
    expect((await send('GET /users', { authorization })).status).toBe(200)
    expect((await logIn()).status).toBe(401)
  })
})
