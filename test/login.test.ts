// POST /login on each store. (Bodies that are refused: contract/body.test.ts.)
import { expect, test } from '@jest/globals'
import jwt from 'jsonwebtoken'
import { useService } from './support/service.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const logIn = (email: string) => service().users.POST('/login', { body: { email } })

  test('returns a token that is valid for one day, with the claims id, iat and exp', async () => {
    const ada = await store().create(newUser())
    const { response, data } = await logIn(ada.email)
    expect([response.status, Object.keys(data!)]).toEqual([200, ['token']])
    const claims = jwt.decode(data!.token) as jwt.JwtPayload
    expect(claims).toEqual({ id: ada.id, iat: expect.any(Number), exp: claims.iat! + 86_400 })
    const authorization = `Bearer ${data!.token}`
    const { json } = await service().send(`GET /users/${ada.id}`, { authorization })
    expect(json).toEqual(ada)
  })

  test('ignores an invalid token', async () => {
    const { email } = await store().create(newUser())
    const request = { authorization: 'Bearer x', json: { email } }
    expect((await service().send('POST /login', request)).status).toBe(200)
  })

  test('a token stays valid after its user was deleted, but cannot be renewed', async () => {
    const { id, email } = await store().create(newUser())
    const authorization = `Bearer ${(await logIn(email)).data!.token}`
    await store().remove(id)
    expect((await service().send('GET /users', { authorization })).status).toBe(200)
    expect((await logIn(email)).response.status).toBe(401)
  })
})
