// After all tests: stops the MongoDB container, and says what was not tested.
import { spawnSync } from 'node:child_process'
import { CHROMIUM } from './chromium.ts'

const TOOLS = {
  [CHROMIUM]: 'the page at /docs',
  kubectl: 'the manifests',
  promtool: 'the alerts',
}

export default async function afterAllTests(_: object, project: { testMatch: string[] }) {
  await globalThis.mongodbContainer?.stop()
  // A test that failed may have left a server open. Later than jest's report, which sets the exit code.
  setTimeout(() => process.exit(), 5_000).unref()
  const reason = process.env['MONGODB_MISSING']
  if (reason) console.error(`\nMongoDB WAS NOT TESTED: no MONGODB_URI, and no container: ${reason}`)
  if (!project.testMatch.join().includes('long')) return
  for (const [tool, what] of Object.entries(TOOLS)) {
    const isThere = spawnSync('sh', ['-c', `command -v ${tool}`]).status === 0
    if (!isThere) console.error(`\nNOT TESTED, because ${tool} is missing: ${what}`)
  }
}
