// Part of `npm version`: writes the version in package.json into openapi.yaml and the manifests. Unless it
// is a prerelease, openapi.yaml then becomes the released contract that `npm run check` compares with.
import { readFileSync, writeFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const contract = readFileSync('openapi.yaml', 'utf8').replace(/(?<=^  version: ).*/m, version)

writeFileSync('openapi.yaml', contract)
const image = 'k8s/components/image/kustomization.yaml'
writeFileSync(image, readFileSync(image, 'utf8').replace(/newTag: .*/, `newTag: ${version}`))
if (!version.includes('-')) writeFileSync('scripts/build/released.yaml', contract)
