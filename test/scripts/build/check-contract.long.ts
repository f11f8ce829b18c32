// What `npm run check` says when openapi.yaml breaks the clients of the last release.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, read, root } from '../../support/readme.ts'

const contract = read('openapi.yaml')
const [, major] = /version: (\d+)/.exec(contract)!

test.each([
  ['fails', 1, `${major}.99.0`],
  ['passes', 0, `${Number(major) + 1}.0.0-0`],
])('it lists a released path that is gone, and %s with %d for %s', (_, code, version) => {
  const folder = newFolder()
  const image = 'k8s/components/image'
  for (const path of ['scripts/build', image]) mkdirSync(join(folder, path), { recursive: true })
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
  const run = (script: string, version: string, contract: string) => {
    write('package.json', JSON.stringify({ version }))
    write('openapi.yaml', contract)
    const program = join(root, `dist/scripts/build/${script}.js`)
    const options = { cwd: folder, encoding: 'utf8', timeout: 120_000 } as const // see runToEnd
    return spawnSync(process.execPath, [program], options)
  }
  write(`${image}/kustomization.yaml`, 'newTag: 1.0.0')
  write('k8s/README.md', '')
  expect(run('release', `${major}.0.0`, contract).status).toBe(0)
  expect(run('release', `${major}.1.0-0`, contract.replace('/login:', '/log-in:')).status).toBe(0)
  const { status, stderr } = run('check-contract', version, contract.replace('/login:', '/log-in:'))
  expect([status, stderr]).toEqual([code, expect.stringMatching(/^paths \/login: is gone/)])
})
