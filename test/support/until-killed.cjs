// Where the tests of a mutant run: the first that fails has killed it, and no other runs. (Jest would
// run a file to its end, and then the other files: https://github.com/jestjs/jest/issues/11766.)
const { TestEnvironment } = require('jest-environment-node')

let killed

module.exports = class extends TestEnvironment {
  handleTestEvent({ name, test, describeBlock }) {
    const mutant = process.env.__STRYKER_ACTIVE_MUTANT__
    if (!mutant) return
    if (name === 'test_done' && test.errors.length > 0) killed = mutant
    if (killed !== mutant) return
    if (name === 'test_start') test.mode = 'skip'
    if (name === 'run_describe_start') describeBlock.mode = 'skip' // its hooks
  }
}
