// A reporter for jest. When nothing was reported for longer than any test may take, it names the files that have
// begun and not ended, and ends the run. Jest itself would wait forever.
import { spawnSync } from 'node:child_process'

/** A test has two minutes, in X.long.ts ten, in X.suite.ts an hour. */
const minutesOf = (path) => (path.includes('.suite.') ? 65 : path.includes('.long.') ? 13 : 5)

export default function HangReporter(_, options) {
  const running = new Set()
  let timer
  const onReport = () => {
    const minutes = options.minutes ?? Math.max(5, ...[...running].map(minutesOf))
    clearTimeout(timer)
    timer = setTimeout(() => endRun(minutes, [...running]), minutes * 60_000)
  }
  return {
    onTestFileStart: ({ path }) => onReport(running.add(path)),
    onTestCaseResult: onReport,
    onTestFileResult: ({ path }) => onReport(running.delete(path)),
    onRunComplete: () => clearTimeout(timer),
  }
}

function endRun(minutes, files) {
  console.error(`\nNothing was reported for ${minutes} minutes. These files did not end:`)
  console.error(files.join('\n'))
  spawnSync('pkill', ['-KILL', '-P', `${process.pid}`]) // the workers
  process.exit(1)
}
