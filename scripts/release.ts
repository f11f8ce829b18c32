// Part of `npm version`: writes the version in package.json into openapi.yaml and the manifests. Unless it
// is a prerelease, openapi.yaml then becomes the released contract that `npm run check` compares with.
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
