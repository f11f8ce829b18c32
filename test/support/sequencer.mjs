// The order of test files: those that take minutes first, so that none of them runs alone at the end. On a machine that
// has not run them yet, jest knows only their sizes.
import Sequencer from '@jest/test-sequencer'

const isLong = ({ path }) => path.includes('.long.')

export default class extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => isLong(b) - isLong(a))
  }
}
