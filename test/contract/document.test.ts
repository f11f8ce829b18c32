// The contract itself, and what is generated from it.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { contract, contractOperations } from '../../src/contract/document.ts'

const root = new URL('../../', import.meta.url)

test('the generated types match openapi.yaml (if not: npm run generate)', () => {
  const check = ['run', '--silent', 'generate', '--', '--check']
  const { status, stderr } = spawnSync('npm', check, { cwd: root, encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 0 })
})

test('the version is that of package.json', () => {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  expect(contract).toHaveProperty('info.version', version)
})

test('the operations are those of the specification, section 4', () => {
  const lines = contractOperations.map(({ method, path, id }) => `${method} ${path} ${id}`)
  expect(lines.sort()).toEqual([
    'delete /users/{id} deleteUser',
    'get /users listUsers',
    'get /users/{id} readUser',
    'post /login login',
    'post /users createUser',
    'put /users/{id} renameUser',
  ])
})
