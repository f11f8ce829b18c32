// The manifests reach the cluster as they are.
import { expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { read, root } from './support/readme.ts'

test('manifests have no ${…}, which Flux replaces, no $$, as Kubernetes does in commands, and no {{…}} of Helm', () => {
  const files = readdirSync(`${root}k8s`, { recursive: true, encoding: 'utf8' })
  const manifests = files.filter((file) => /\.(yaml|env)$/.test(file))
  const found = manifests.map((file) => read(`k8s/${file}`).match(/\$[{$].*|\{\{(?! \$value).*/g))
  expect(new Set(found)).toEqual(new Set([null]))
})
