// The contract itself.
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { contract, contractOperations } from '../../src/contract/document.ts'

test('the version is that of package.json', () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
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
