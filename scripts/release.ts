// Part of `npm version`: openapi.yaml and the manifests take the new version of package.json, and
// openapi.yaml becomes the released contract that `npm run check` compares with, unless it is a prerelease.
import { readFileSync, writeFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const contract = readFileSync('openapi.yaml', 'utf8').replace(
  /^  version: .*$/m,
  `  version: ${version}`,
)

writeFileSync('openapi.yaml', contract)
const DEMO = 'k8s/overlays/demo'
for (const folder of ['k8s/base', `${DEMO}/service`, `${DEMO}/mongodb`]) {
  const file = `${folder}/kustomization.yaml`
  writeFileSync(file, readFileSync(file, 'utf8').replace(/newTag: .*/, `newTag: ${version}`))
}
if (!version.includes('-')) writeFileSync('src/contract/released.yaml', contract)
