// Writes what became of each test file as soon as it ends, so that a run which does not end is not lost.
import { appendFileSync } from 'node:fs'

export default class {
  onTestResult(_, { testFilePath, testExecError, testResults }) {
    const tests = testResults.map(({ status }) => status)
    const failed = testExecError !== undefined || tests.includes('failed')
    appendFileSync(
      process.env.RESULTS,
      `${JSON.stringify({ file: testFilePath, failed, tests })}\n`,
    )
  }
}
