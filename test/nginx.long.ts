// The service with BASE_PATH behind nginx, with the location of k8s/README.md.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUsersClient } from '../src/client/client.ts'
import { freePort } from './support/program.ts'
import { newFolder, read } from './support/readme.ts'
import { tokens } from './chassis/support/requests.ts'
import { useService } from './support/service.ts'
import { sqlitePlace, usersIn, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const hasNginx = spawnSync('nginx', ['-v']).status === 0
const describeNginx: typeof describe.skip = hasNginx ? describe : describe.skip

const LOCATION = /^```nginx\n(.*?)^```$/ms.exec(read('k8s/README.md'))![1]!

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

describeNginx('behind nginx, which keeps the path', () => {
  const store = useStore(sqlitePlace)
  const service = useService(store, '/api')
  let url: string
  let stop: () => Promise<unknown>

  beforeAll(async () => {
    const folder = newFolder()
    const listening = await freePort()
    url = `http://127.0.0.1:${listening}`
    const paths = TEMPORARY.map((name) => `${name}_temp_path ${name};`).join(' ')
    const here = LOCATION.replace('127.0.0.1:3000', `127.0.0.1:${service().port}`)
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; master_process off; pid pid; error_log stderr; events {}
      http { access_log off; ${paths} server { listen 127.0.0.1:${listening}; ${here} } }`,
    )
    const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'])
    const ended = once(nginx, 'exit')
    stop = () => (nginx.kill(), ended)
    while (!(await fetch(url).catch(() => undefined))) {
      if (nginx.exitCode !== null) throw new Error(`nginx ended: ${nginx.stderr.read()}`)
      await sleep(10)
    }
  })
  afterAll(() => stop())

  test('the client creates a user and reads all, and its Location works', async () => {
    const token = tokens.issue('x')
    const users = createUsersClient({ baseUrl: `${url}/api`, token })
    for (let i = 0; i < 1_001; i += 1) await store().create(newUser({ email: '' }))
    const { data, response } = await users.POST('/users', { body: newUser() })
    const authorization = `Bearer ${token}`
    const location = response.headers.get('location')!
    const read = await fetch(url + location, { headers: { authorization } })
    expect(await read.json()).toEqual(data)
    const found = []
    for await (const user of users.all()) found.push(user.id)
    expect(found).toEqual((await usersIn(store())).map(({ id }) => id))
  })
})
