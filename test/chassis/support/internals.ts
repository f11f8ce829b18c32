// What the tests of the service need of the chassis beyond its doors.
export { Aborted } from '../../../src/chassis/batch.ts'
export { InvalidConfig, namesOf, readConfig, VARIABLES } from '../../../src/chassis/config.ts'
export { headerReader } from '../../../src/chassis/contract/header.ts'
export { hostCheck } from '../../../src/chassis/http/hosts.ts'
export { LIMITS, SERVER_LIMITS } from '../../../src/chassis/http/limits.ts'
export { pathRedactor } from '../../../src/chassis/redact-path.ts'
export { createMetrics } from '../../../src/chassis/telemetry/metrics.ts'
export { createTokens } from '../../../src/chassis/tokens/tokens.ts'
