// After all tests: stops the MongoDB container, and says what was not tested.
import { spawnSync } from 'node:child_process'
import { CHROMIUM } from './chromium.ts'

const TOOLS = {
  [CHROMIUM]: 'the page at /docs',
  kubectl: 'the manifests',
  nginx: 'BASE_PATH behind a proxy',
  promtool: 'the alerts',
}

export default async function afterAllTests(_: unknown, project: { testMatch: string[] }) {
  await globalThis.mongodbContainer?.stop()
  if (project.testMatch.join().includes('long'))
    for (const [tool, what] of Object.entries(TOOLS)) warnWithout(tool, what)
  const reason = process.env['MONGODB_MISSING']
  if (reason) console.error(`\nMongoDB WAS NOT TESTED: no MONGODB_URI, and no container: ${reason}`)
}

function warnWithout(tool: string, what: string): void {
  if (spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
    console.error(`\nNOT TESTED, because ${tool} is missing: ${what}`)
}
