// The port for operators while other programs change the database.
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { started, usePlace } from './support/program.ts'
import { createAt, databaseOf } from './support/stores.ts'
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
