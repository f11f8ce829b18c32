// Mutation testing (https://stryker-mutator.io) of what .stryker.config.mjs names. Not part of `npm
// test`: npm run test:mutation takes half an hour. Survivors are printed, and in reports/mutation.
import { expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'

test.each(['tokens', 'errors', 'contract', 'receive', 'sqlite', 'mongodb'])(
  'of the mutants of %s at least 90 % are killed',
  async (part) => {
    const stryker = spawn('node_modules/.bin/stryker', ['run', '.stryker.config.mjs'], {
      env: { ...process.env, PART: part, RESPONSES_SEEN: undefined },
      stdio: 'inherit',
    })
    const [status] = await once(stryker, 'close')
    expect(status).toBe(0)
  },
  3_600_000,
)
