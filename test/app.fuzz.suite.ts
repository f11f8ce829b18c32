// Schemathesis (https://schemathesis.readthedocs.io) against the running service, by its contract. Not
// part of `npm test`: npm run test:fuzz needs `schemathesis` 4 on the PATH (pipx install schemathesis).
import { afterAll, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { openStore } from '../src/store/open.ts'
import { killPrograms, serve } from './support/program.ts'
import { tokens } from './support/service.ts'
import { SECRET, sqlitePlace } from './support/stores.ts'

const place = sqlitePlace()
afterAll(async () => {
  await killPrograms()
  await place.remove()
})

test('no request gets an answer that the contract does not document', async () => {
  const store = await openStore(place)
  await store.create({ name: 'Ada', email: 'ada@example.com' })
  await store.close()
  const url = await serve(place, { SIGNING_SECRET: SECRET }).listening()
  const fuzzer = spawn(process.env['SCHEMATHESIS'] ?? 'schemathesis', [
    'run',
    `${url}/openapi.json`,
    `--header=Authorization: Bearer ${tokens.issue('x')}`,
    // A body that is valid is refused all the same when its email is taken: no schema can say so.
    '--exclude-checks=positive_data_acceptance',
    '--max-examples=100',
    '--no-color',
  ])
  const report = text(fuzzer.stdout)
  const [status] = await once(fuzzer, 'close')
  expect([status, status === 0 ? '' : await report]).toEqual([0, ''])
}, 600_000)
