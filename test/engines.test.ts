// The lowest versions of Node: they are the same wherever they are named, and older ones are refused.
import { expect, test } from '@jest/globals'
import { read } from './support/readme.ts'

const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
const lowest = engines.node.match(/\d+\.\d+\.\d+/g)!

test.each([
  ['README.md', `(${lowest.join(', ')} or later)`],
  ['SECURITY.md', `Node ${lowest.join(', ')} or later`],
  ['.github/workflows/ci.yml', `node: ['${lowest.join("', '")}', '26', current]`],
  ['.ci/run', `lowest=${lowest[0]}`],
  ['package-lock.json', `"node": "${engines.node}"`],
])('%s has the lowest versions of package.json: %s', (file, text) => {
  expect(read(file).includes(text)).toBe(true)
})

test('npm ci fails on an older version', () => {
  expect(read('.npmrc')).toContain('engine-strict=true')
})

test('the image is built with npm ci and its settings', () => {
  const install = /^COPY package\.json package-lock\.json \.npmrc .*\n[^]*^RUN npm ci/m
  expect(read('Dockerfile')).toMatch(install)
})
