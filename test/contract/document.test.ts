// The contract itself.
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { contract } from '../../src/contract/document.ts'

test('the version is that of package.json', () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  expect(contract).toHaveProperty('info.version', version)
})
