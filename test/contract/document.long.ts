// What is generated from the contract.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('../../', import.meta.url))

test('the generated types match openapi.yaml (if not: npm run generate)', () => {
  const check = ['run', '--silent', 'generate', '--', '--check']
  const { status, stderr } = spawnSync('npm', check, { cwd, encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 0 })
})
