// The port for operators while the store is opened, and while other programs change it.
import { expect, test } from '@jest/globals'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, serve, started, usePlace } from './support/program.ts'
import { listen } from './chassis/support/app.ts'
import { createAt, databaseOf, SECRET } from './support/stores.ts'
import { createdAt } from '../src/store/user-id.ts'
import { databaseIn } from '../src/store/open.ts'
import { newUser } from './support/users.ts'

const place = usePlace()

test('/metrics says which database it is, and when its oldest user was created, also when other programs change it', async () => {
  const [user] = await createAt(place, newUser())
  const service = await started(place)
  const metrics = async () => (await service.probe('/metrics')).text
  const oldest = (seconds: number | string) =>
    `\nstore_oldest_record_timestamp_seconds ${seconds}\n`
  expect(await metrics()).toContain(oldest(Number(createdAt(user!.id)) / 1000))
  expect(await metrics()).toContain(
    `store_info{database="SQLite in ${databaseIn(place.DATA_DIR)}"} 1\n`,
  )
  databaseOf(place).exec('DELETE FROM users')
  while (!(await metrics()).includes(oldest('+Inf'))) await sleep(100)
})

test('while the store is being opened it is alive and not ready, and a signal stops it with 0', async () => {
  const mute = net.createServer() // a MongoDB that never responds
  const port = await listen(mute)
  const opsPort = await freePort()
  const env = { MONGODB_URI: `mongodb://127.0.0.1:${port}/x`, SIGNING_SECRET: SECRET }
  const starting = serve(place, { ...env, OPS_PORT: `${opsPort}` })
  const probe = async (path: string) => {
    for (;;) {
      const init = { headers: { connection: 'close' } }
      const response = await fetch(`http://127.0.0.1:${opsPort}${path}`, init).catch(() => {})
      if (response) return [response.status, await response.text()]
      await sleep(5)
    }
  }
  expect(await probe('/readyz')).toEqual([503, 'starting'])
  expect(await probe('/livez')).toEqual([200, 'alive'])
  expect(await probe('/metrics')).toEqual([200, expect.stringMatching(/^users_service_ready 0$/m)])
  expect(await starting.stop()).toBe(0)
  mute.close()
})
