// Runs the test files of a mutant in the order of their names, not the longest first.
const { default: Sequencer } = require('@jest/test-sequencer')

module.exports = class extends Sequencer {
  sort(tests) {
    return [...tests].sort((one, other) => (one.path < other.path ? -1 : 1))
  }
}
