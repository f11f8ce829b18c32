// Fails when openapi.yaml would break clients of the last released contract, unless package.json has a
// new major version.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { breakingChanges, type OpenApi } from './breaking-changes.ts'

const released = parse(readFileSync('src/contract/released.yaml', 'utf8')) as OpenApi
const current = parse(readFileSync('openapi.yaml', 'utf8')) as OpenApi
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const major = (text: string) => Number(text.split('.')[0])
const changes = breakingChanges(released, current)
const allowed = major(version) > major(released.info.version)

for (const change of changes) console.error(change)
if (changes.length === 0) {
  console.log(`openapi.yaml breaks no clients of ${released.info.version}`)
} else if (allowed) {
  console.error(`\nopenapi.yaml breaks clients of ${released.info.version}; ${version} may do so.`)
} else {
  console.error(
    `\nopenapi.yaml breaks clients of ${released.info.version}; only a new major version may, not ${version}.`,
  )
  process.exitCode = 1
}
