// The running service, tested with requests that Schemathesis (https://schemathesis.readthedocs.io) generates
// from the contract. npm run test:fuzz needs `schemathesis` 4 on the PATH (pipx install schemathesis).
import { expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { contract } from './support/service.ts'
import { serve, usePlace } from './support/program.ts'
import { tokens } from './chassis/support/requests.ts'
import { createAt, SECRET } from './support/stores.ts'
import { newUser } from './support/users.ts'

const place = usePlace()

// SECURITY.md: No input makes the service fail.
test('no request gets a response that the contract does not document', async () => {
  await createAt(place, newUser())
  const url = await serve(place, { SIGNING_SECRET: SECRET }).listening()
  // With what the service also accepts, such as a number as a name: only OpenAPI 3.1 can say it.
  const contractFile = join(place.DATA_DIR, 'openapi.json')
  writeFileSync(contractFile, JSON.stringify({ ...contract, openapi: '3.1.1' }))
  const fuzzer = spawn(process.env['SCHEMATHESIS'] ?? 'schemathesis', [
    'run',
    contractFile,
    `--url=${url}`,
    `--header=Authorization: Bearer ${tokens.issue('x')}`,
    // A valid body is refused when its email is taken, which no schema can say.
    '--exclude-checks=positive_data_acceptance',
    '--max-examples=100',
    '--no-color',
  ])
  const report = text(fuzzer.stdout)
  const [status] = await once(fuzzer, 'close')
  expect([status, status === 0 ? '' : await report]).toEqual([0, ''])
}, 600_000)
