// Runs Stryker for each part of stryker.config.mjs. It takes half an hour: npm run test:mutation. The
// mutants that survive are printed; reports/mutation has them in the code.
import { expect, jest, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const stryker = fileURLToPath(new URL('node_modules/.bin/stryker', import.meta.url))

jest.setTimeout(3_600_000)
const PARTS = ['auth', 'errors', 'contract', 'sqlite', 'mongodb']
test.each(PARTS)('the tests notice at least 90 %% of the mutants of %s', async (part) => {
  const run = spawn(stryker, ['run', 'test/mutation/stryker.config.mjs'], {
    env: { ...process.env, PART: part },
    stdio: 'inherit',
  })
  const [status] = await once(run, 'close')
  expect(status).toBe(0)
})
