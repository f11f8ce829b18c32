// Part of `npm version`: writes the version in package.json into openapi.yaml and the manifests. Unless it is a
// prerelease, released.json then gets what `npm run check` compares with: openapi.yaml without documentation.
import { readFileSync, writeFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { withoutDocumentation } from './breaking-changes.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const contract = readFileSync('openapi.yaml', 'utf8').replace(/(?<=^  version: ).*/m, version)

writeFileSync('openapi.yaml', contract)
for (const file of ['k8s/components/image/kustomization.yaml', 'k8s/README.md']) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/(?<=newTag: |users-service:|REPOSITORY:)\d\S*/g, version))
}
if (!version.includes('-')) {
  const released = { info: { version }, ...withoutDocumentation(load(contract) as object) }
  writeFileSync('scripts/build/released.json', `${JSON.stringify(released)}\n`)
}
