// Part of `npm version`: openapi.yaml takes the new version of package.json, and becomes the released
// contract that `npm run check` compares with, unless it is a prerelease.
import { readFileSync, writeFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const contract = readFileSync('openapi.yaml', 'utf8').replace(
  /^  version: .*$/m,
  `  version: ${version}`,
)

writeFileSync('openapi.yaml', contract)
if (!version.includes('-')) writeFileSync('src/contract/released.yaml', contract)
