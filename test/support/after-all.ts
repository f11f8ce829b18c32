// After all tests: stops the MongoDB container, shows which responses of the contract were seen, and
// says loudly what was not tested.
import type { Config } from '@jest/types'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { CHROMIUM } from './chromium.ts'
import { coverage, type Contract } from './coverage.ts'

export default async function afterAllTests(run: Config.GlobalConfig): Promise<void> {
  await globalThis.mongodbContainer?.stop()
  const contract = parse(readFileSync(join(run.rootDir, 'openapi.yaml'), 'utf8')) as Contract
  showCoverage(contract, isWhole(run))
  if (!existsSync(CHROMIUM)) console.error(`\nTHE PAGE AT /docs WAS NOT TESTED: no ${CHROMIUM}`)
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) {
    console.error('\nTHE MANIFESTS WERE NOT TESTED: no kubectl')
  }
  const reason = process.env['MONGODB_MISSING']
  if (reason) console.error(`\nMongoDB WAS NOT TESTED: no MONGODB_URI, and no container: ${reason}`)
}

function showCoverage(contract: Contract, whole: boolean): void {
  const file = process.env['RESPONSES_SEEN']!
  const seen = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  const { table, faults } = coverage(contract, seen)
  rmSync(dirname(file), { recursive: true })
  if (!whole && seen.length === 0) return
  console.log(`\nResponses of openapi.yaml, and how often the tests saw them:\n\n${table}`)
  if (!whole) return console.log('\nNot judged: these were not all tests.')
  if (faults.length === 0) return
  console.error(`\nFAILED, for the tests and openapi.yaml differ:\n${faults.join('\n')}`)
  process.on('exit', () => (process.exitCode = 1)) // even of --forceExit
}

/** Whether all tests ran, not a choice of them. */
const isWhole = ({
  testPathPatterns,
  testNamePattern,
  shard,
  onlyChanged,
  onlyFailures,
}: Config.GlobalConfig) =>
  testPathPatterns.patterns.length === 0 &&
  !testNamePattern &&
  !shard &&
  !onlyChanged &&
  !onlyFailures
