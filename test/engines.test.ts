// The lowest versions of Node: they are the same wherever they are named, and older ones are refused.
import { expect, test } from '@jest/globals'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd } from './support/program.ts'
import { newFolder, read, root } from './support/readme.ts'

const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
const lowest = engines.node.match(/\d+\.\d+\.\d+/g)!

test.each([
  ['README.md', `(${lowest.join(', ')} or later)`],
  ['SECURITY.md', `Node ${lowest.join(', ')} or later`],
  ['.github/workflows/ci.yml', `node: ['${lowest.join("', '")}', '26', current]`],
  ['.ci/run', `for node in ${lowest[0]} 24 26; do`],
  ['package-lock.json', `"node": "${engines.node}"`],
])('%s has the lowest versions of package.json: %s', (file, text) => {
  expect(read(file).includes(text)).toBe(true)
})

test('npm ci fails on an older version', () => {
  const folder = newFolder()
  for (const file of ['package-lock.json', '.npmrc']) cpSync(join(root, file), join(folder, file))
  writeFileSync(join(folder, 'package.json'), read('package.json').replace(engines.node, '>=99'))
  const install = () => runToEnd('npm', ['ci', '--dry-run', '--ignore-scripts'], { cwd: folder })
  expect(install).toThrow('Unsupported engine')
})

test('the image is built with npm ci and its settings', () => {
  const install = /^COPY package\.json package-lock\.json \.npmrc .*\n[^]*^RUN npm ci/m
  expect(read('Dockerfile')).toMatch(install)
})
