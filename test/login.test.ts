// POST /login on each store. (Bodies that are refused: contract/body.test.ts; the claims: contract/examples.test.ts.)
import { expect, test } from '@jest/globals'
import jwt from 'jsonwebtoken'
import { useService } from './support/service.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const logIn = (email: string) => service().users.POST('/login', { body: { email } })

  test('a token has the id of its user, stays valid after the user was deleted, but cannot be renewed', async () => {
    const { id, email } = await store().create(newUser())
    const { token } = (await logIn(email)).data!
    expect(jwt.decode(token)).toMatchObject({ id })
    await store().remove(id)
    const authorization = `Bearer ${token}`
    expect((await service().send('GET /users', { authorization })).status).toBe(200)
    expect((await logIn(email)).response.status).toBe(401)
  })

  test('the log-in ignores an invalid token', async () => {
    const { email } = await store().create(newUser())
    const request = { authorization: 'Bearer x', json: { email } }
    expect((await service().send('POST /login', request)).status).toBe(200)
  })
})
