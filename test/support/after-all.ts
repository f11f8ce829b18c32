// After all tests: stops the MongoDB container, and says what was not tested.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { CHROMIUM } from './chromium.ts'

const TOOLS = {
  [CHROMIUM]: 'the page at /docs',
  kubectl: 'the manifests',
  promtool: 'the alerts',
}

/** What the configurations of jest say of this run. */
interface Run {
  testPathPatterns: { patterns: string[] }
}

export default async function afterAllTests(run: Run, project: { testMatch: string[] }) {
  await globalThis.mongodbContainer?.stop()
  // A test that failed may have left a server open. Later than jest's report, which sets the exit code.
  setTimeout(() => process.exit(), 5_000).unref()
  const hasLong = project.testMatch.join().includes('long')
  if (hasLong) for (const [tool, what] of Object.entries(TOOLS)) warnWithout(tool, what)
  const reason = process.env['MONGODB_MISSING']
  if (reason) console.error(`\nMongoDB WAS NOT TESTED: no MONGODB_URI, and no container: ${reason}`)
  if (hasLong || run.testPathPatterns.patterns.length > 0) return
  const files = readdirSync(new URL('..', import.meta.url), { recursive: true }) as string[]
  const count = files.filter((name) => name.endsWith('.long.ts')).length
  console.error(
    `\n${count} files (*.long.ts) run only in \`npm run test:all\`: they start programs, Chromium, kubectl or\n` +
      'promtool, or take minutes: faults, floods, memory, outages, traces, the page, manifests, alerts, documents.',
  )
}

function warnWithout(tool: string, what: string): void {
  if (spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
    console.error(`\nNOT TESTED, because ${tool} is missing: ${what}`)
}
