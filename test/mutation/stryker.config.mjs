// Mutation testing (https://stryker-mutator.io) changes the code that matters most, one place at a time,
// and expects a test to fail for each change. npm run test:mutation runs it from the root.

// Each part has the tests that run its code in their own process: a test of the built program sees no
// mutant. If all tests ran for all of the code, each mutant that survives would cost minutes.
const PARTS = {
  auth: {
    mutate: ['src/auth/{guard,tokens}.ts'],
    tests: ['auth/*', 'users'],
  },
  errors: {
    mutate: ['src/errors.ts', 'src/http/http-error.ts'],
    tests: ['auth/guard', 'errors', 'login', 'users*'],
  },
  contract: {
    mutate: ['src/contract/*.ts', '!src/contract/openapi.ts'],
    tests: ['contract/*', 'errors', 'http/{hostile,limits}', 'login', 'users*'],
  },
  sqlite: {
    mutate: ['src/store/*.ts', 'src/store/sqlite/*.ts', 'src/telemetry/measured-store.ts'],
    tests: ['store/*', 'telemetry/metrics'],
  },
  mongodb: {
    mutate: ['src/store/*.ts', 'src/store/mongo/*.ts'],
    tests: ['app.races', 'store/**/*'],
  },
}

const part = process.env.PART
const { mutate, tests } = PARTS[part]
if (part !== 'mongodb') delete process.env.MONGODB_URI // the tests on MongoDB would repeat those on SQLite

export default {
  mutate,
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  jest: {
    config: {
      testMatch: tests.map((name) => `<rootDir>/test/${name}.test.ts`),
      testRunner: '<rootDir>/test/mutation/jest-circus-until-killed.cjs', // Stryker expects jest-circus in its name
      testSequencer: '<rootDir>/test/mutation/by-name.cjs',
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
