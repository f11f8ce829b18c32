// What the reporter wrote. `again FILE TESTS`: those of the test files in TESTS that failed or did not
// end; `count FILE`: how many tests passed, failed and were skipped, the last time each file was run.
import { existsSync, readFileSync } from 'node:fs'

const [what, report, tests] = process.argv.slice(2)
const linesOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
const results = linesOf(report)
  .filter(Boolean)
  .map((line) => JSON.parse(line))
const last = new Map(results.map((result) => [result.file, result]))

if (what === 'again') {
  const files = linesOf(tests).filter((line) => line.startsWith('/'))
  for (const file of files) if (last.get(file)?.failed ?? true) console.log(file)
} else {
  const all = [...last.values()].flatMap(({ failed, tests }) =>
    tests.length > 0 ? tests : failed ? ['failed'] : [],
  )
  const count = (status) => all.filter((one) => one === status).length
  if (all.length === 0) process.exit(1)
  console.log(count('passed'), count('failed'), count('pending'))
}
