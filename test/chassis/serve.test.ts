// Whether traces are sent, and where. (What is sent: tracing.long.ts.)
import { expect, test } from '@jest/globals'
import { tracesEndpoint } from '../../src/chassis/serve.ts'

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://all'
test.each<[NodeJS.ProcessEnv, string]>([
  [{}, 'http://all'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces' }, 'http://traces'],
  [{ OTEL_SDK_DISABLED: 'TRUE' }, ''],
  [{ OTEL_SDK_DISABLED: 'no' }, 'http://all'],
  [{ OTEL_TRACES_EXPORTER: 'none' }, ''],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://all'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, ''],
])('with %j, traces go to "%s"', (env, endpoint) => {
  expect(tracesEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT, ...env })).toBe(endpoint)
})
