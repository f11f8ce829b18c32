// Part of `npm version`: openapi.yaml takes the new version of package.json, and becomes the released
// contract that `npm run check` compares with.
import { readFileSync, writeFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const contract = readFileSync('openapi.yaml', 'utf8').replace(
  /^  version: .*$/m,
  `  version: ${version}`,
)

writeFileSync('openapi.yaml', contract)
writeFileSync('src/contract/released.yaml', contract)
