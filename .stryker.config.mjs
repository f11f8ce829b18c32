// Mutation testing (https://stryker-mutator.io): changes the code that matters most, a place at a time,
// and expects that a test fails. Run by test/mutation.suite.ts: npm run test:mutation.

// In parts, each with the tests that run its code in their own process. (The tests of the built programs
// see no mutant.) With all tests for all of the code a survivor would take minutes.
const PARTS = {
  tokens: {
    mutate: ['src/auth/tokens.ts'],
    tests: ['tokens'],
  },
  errors: {
    mutate: ['src/{guard,errors}.ts'],
    tests: ['errors', 'failures', 'guard', 'routes'],
  },
  contract: {
    mutate: ['src/contract/*.ts', '!src/contract/{openapi,receive}.ts'],
    tests: ['api', 'body', 'contract', 'failures', 'http', 'json-array', 'pages', 'routes'],
  },
  receive: {
    mutate: ['src/contract/receive.ts'],
    tests: ['api', 'body', 'hostile'],
  },
  sqlite: {
    mutate: ['src/store/{batch,measured,sqlite,user-id,user-store}.ts'],
    tests: ['batch', 'metrics', 'store', 'user-id'],
  },
  mongodb: {
    mutate: ['src/store/{mongo,open,turns,user-bson,user-documents}.ts'],
    tests: ['mongo', 'races', 'store', 'unreachable', 'user-bson', 'user-documents'],
  },
}

const part = process.env.PART
const { mutate, tests } = PARTS[part]
if (part !== 'mongodb') delete process.env.MONGODB_URI // its half of the tests would be a repetition

export default {
  mutate,
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: {
    config: {
      testMatch: tests.map((name) => `<rootDir>/test/${name}.test.ts`),
      testRunner: '<rootDir>/test/support/jest-circus-until-killed.cjs', // named as Stryker wants it
      testSequencer: '<rootDir>/test/support/by-name.cjs',
      testTimeout: 15_000, // for a mutant that hangs
      globalSetup: null, // these two would run for every mutant
      globalTeardown: null,
    },
  },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutFactor: 2,
  ignorePatterns: ['/data', '/k8s', '/.hypothesis', '/dist/docs', '/reports', '/.stryker-tmp'],
  tempDirName: `.stryker-tmp/${part}`,
  cleanTempDir: 'always',
  reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
  htmlReporter: { fileName: `reports/mutation/${part}.html` },
  jsonReporter: { fileName: `reports/mutation/${part}.json` },
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  allowConsoleColors: false,
  warnings: { slow: false },
  thresholds: { high: 95, low: 90, break: 90 },
}
