// The service behind nginx: with BASE_PATH in the location of k8s/README.md, and behind one that compresses.
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import { createUsersClient } from '../src/client/client.ts'
import { describeNginx, LOCATION, useNginx } from './support/nginx.ts'
import { CLOSE } from './support/requests.ts'
import { dial, parseResponses, send, tokens, useService } from './support/service.ts'
import { sqlitePlace, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const store = useStore(sqlitePlace)
const SPELLINGS =
  '/login //api/login /api//login /API/login /apilogin /api;x/login /./api/login /api/../login /%61pi/login ' +
  '/api/%6cogin /api/x/../login /api/login?x /api/api/login http://api/login http://x/login'

const portOf = (url: string) => Number(new URL(url).port)

describeNginx('behind nginx, which keeps the path', () => {
  const service = useService(store, undefined, '/api')
  const url = useNginx(LOCATION, () => service().port, 'location = /api/login { deny all; }')

  test('the client creates a user and reads all, and its Location works', async () => {
    const token = tokens.issue('x')
    const users = createUsersClient({ baseUrl: `${url()}/api`, token })
    for (let i = 0; i < 1_001; i += 1) await store().create(newUser({ email: '' }))
    const { data, response } = await users.POST('/users', { body: newUser() })
    const authorization = `Bearer ${token}`
    const location = response.headers.get('location')!
    const read = await fetch(url() + location, { headers: { authorization } })
    expect(await read.json()).toEqual(data)
    const found = []
    for await (const user of users.all()) found.push(user.id)
    expect(found).toEqual(await store().ids(undefined, 2_000))
  })

  test('a rule of nginx for one path cannot be passed by with another spelling of it', async () => {
    const { email } = await store().create(newUser())
    const body = JSON.stringify({ email })
    const head = `HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${CLOSE}`
    const statusOf = async (path: string) => {
      const { socket, text } = dial(portOf(url()))
      socket.write(`POST ${path} ${head}Content-Length: ${body.length}\r\n\r\n${body}`)
      await once(socket, 'close')
      expect(text()).not.toContain('token":')
      return parseResponses(text())[0]!.status
    }
    expect(await statusOf('/api/login')).toBe(403)
    for (const path of SPELLINGS.split(' '))
      expect([400, 401, 403, 404]).toContain(await statusOf(path))
    expect((await fetch(`${url()}/api/x/users`)).status).toBe(401)
  })
})

describeNginx('behind nginx that compresses all', () => {
  const service = useService(store)
  const location = 'location / { proxy_pass http://127.0.0.1:3000; }'
  const gzip = 'gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any;'
  const url = useNginx(location, () => service().port, gzip)

  test('the ETag is weak, and the 412 of a PUT with it says so; without compression, PUT works', async () => {
    const { id } = await store().create(newUser())
    const etagAs = async (coding: string) => {
      const headers = { authorization: `Bearer ${tokens.issue(id)}`, 'accept-encoding': coding }
      return (await fetch(`${url()}/users/${id}`, { headers })).headers.get('etag')!
    }
    const rename = (etag: string) =>
      send(portOf(url()), `PUT /users/${id}`, {
        headers: { 'if-match': etag },
        json: { name: 'x' },
      })
    const weak = await etagAs('gzip')
    expect(weak).toMatch(/^W/)
    expect((await rename(weak)).json).toMatchObject({ code: 'etag_weak' })
    expect((await rename(await etagAs('identity'))).status).toBe(204)
  })
})
