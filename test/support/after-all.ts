// After all tests: stops the MongoDB container, and says loudly what was not tested.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { CHROMIUM } from './chromium.ts'

export default async function afterAllTests(): Promise<void> {
  await globalThis.mongodbContainer?.stop()
  if (!existsSync(CHROMIUM)) console.error(`\nTHE PAGE AT /docs WAS NOT TESTED: no ${CHROMIUM}`)
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) {
    console.error('\nTHE MANIFESTS WERE NOT TESTED: no kubectl')
  }
  if (spawnSync('nginx', ['-v']).status !== 0)
    console.error('\nBASE_PATH WAS NOT TESTED BEHIND A PROXY: no nginx')
  if (spawnSync('promtool', ['--version']).status !== 0)
    console.error('\nTHE ALERTS WERE NOT TESTED: no promtool')
  const reason = process.env['MONGODB_MISSING']
  if (reason) console.error(`\nMongoDB WAS NOT TESTED: no MONGODB_URI, and no container: ${reason}`)
}
