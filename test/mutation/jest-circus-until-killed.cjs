// Runs the tests of a mutant with jest-circus, up to the first test that fails: that test has killed the
// mutant. Jest would run the file to its end, and the other files: https://github.com/jestjs/jest/issues/11766
const { createEmptyTestResult } = require('@jest/test-result')
const { default: circus } = require('jest-circus/runner')

/** The result of a file that is not run. Jest expects at least one test in it. */
const SKIPPED = {
  ...createEmptyTestResult(),
  numPendingTests: 1,
  testResults: [
    { status: 'pending', title: '', fullName: '', ancestorTitles: [], failureMessages: [] },
  ],
}

let killed

module.exports = async function untilKilled(globalConfig, config, environment, ...rest) {
  const mutant = process.env.__STRYKER_ACTIVE_MUTANT__
  if (mutant && killed === mutant) return SKIPPED
  const handle = environment.handleTestEvent
  environment.handleTestEvent = async (event, state) => {
    await handle?.call(environment, event, state)
    if (!mutant) return
    if (event.name === 'test_done' && event.test.errors.length > 0) killed = mutant
    if (killed !== mutant) return
    if (event.name === 'test_start') event.test.mode = 'skip'
    if (event.name === 'run_describe_start') event.describeBlock.mode = 'skip' // its hooks
  }
  return circus(globalConfig, config, environment, ...rest)
}
