// The order of the test files of a mutant: by name, not the longest first.
const { default: Sequencer } = require('@jest/test-sequencer')

module.exports = class extends Sequencer {
  sort(tests) {
    return [...tests].sort((one, other) => (one.path < other.path ? -1 : 1))
  }
}
