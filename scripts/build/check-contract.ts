// Fails when openapi.yaml would break clients of the last released contract, unless package.json has a
// new major version.
import { existsSync, readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { breakingChanges, type OpenApi } from './breaking-changes.ts'

const RELEASED = 'scripts/build/released.json'

const current = load(readFileSync('openapi.yaml', 'utf8')) as OpenApi
const released = existsSync(RELEASED) // not before the first release
  ? (JSON.parse(readFileSync(RELEASED, 'utf8')) as OpenApi)
  : current
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const changes = breakingChanges(released, current)
for (const change of changes) console.error(change)
console.error(`Breaking changes since ${released.info.version}: ${changes.length}`)

if (changes.length > 0 && parseInt(version) <= parseInt(released.info.version)) {
  console.error(`Only a new major version may have any, not ${version}.`)
  process.exitCode = 1
}
