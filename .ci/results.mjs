// What jest's JSON reports say. `failed FILE`: the test files that failed; `count FILE AGAIN`: how many
// tests passed, failed and were skipped, where a file that was run again counts as it did then.
import { existsSync, readFileSync } from 'node:fs'

const [what, ...reports] = process.argv.slice(2)
const files = reports
  .filter((report) => existsSync(report))
  .map((report) => JSON.parse(readFileSync(report, 'utf8')).testResults)
  .map((results) => results.map((result) => [result.name, result]))
const results = [...new Map(files.flat()).values()]

if (what === 'failed') {
  for (const { name, status } of results) if (status === 'failed') console.log(name)
} else {
  const tests = results.flatMap(({ assertionResults }) => assertionResults)
  const count = (status) => tests.filter((test) => test.status === status).length
  if (tests.length === 0) process.exit(1)
  console.log(count('passed'), count('failed'), count('pending'))
}
