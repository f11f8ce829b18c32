// OpenTelemetry's environment variables.
import { expect, test } from '@jest/globals'
import { readTracing } from '../../src/telemetry/tracing-variables.ts'

const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
const OWN = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://me:pw@collector/x?key=1' }

test.each<[Record<string, string>, string | undefined]>([
  [{}, undefined],
  [BASE, 'http://collector:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector/otlp/' }, 'http://collector/otlp/v1/traces'],
  [OWN, OWN.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT],
  [{ ...BASE, ...OWN }, OWN.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT],
  [{ ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' }, 'http://collector:4318/v1/traces'],
  [{ ...BASE, OTEL_SDK_DISABLED: 'True' }, undefined],
  [{ ...BASE, OTEL_TRACES_EXPORTER: 'none' }, undefined],
])('with %j, traces go to %s', (environment, url) => {
  const { endpoint, unsupported } = readTracing(environment)
  expect([endpoint?.href, unsupported]).toEqual([url, []])
})

test.each([
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://'],
  ['OTEL_TRACES_EXPORTER', 'console'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:$PORT'],
])('%s=%s sends no traces, and has no effect', (name, value) => {
  const { endpoint, unsupported } = readTracing({ ...BASE, [name]: value })
  expect(endpoint).toBeUndefined()
  expect(unsupported).toEqual([name])
})

test('a variable that changes nothing is named, unless it says what happens anyway', () => {
  const supported = {
    OTEL_SERVICE_NAME: 'a',
    OTEL_RESOURCE_ATTRIBUTES: 'a=b',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_BSP_SCHEDULE_DELAY: '10',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=b',
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: 'a',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_PROPAGATORS: 'tracecontext,baggage',
    OTEL_LOGS_EXPORTER: '',
  }
  const unsupported = {
    OTEL_LOG_LEVEL: 'debug',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '0',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_PROPAGATORS: 'b3',
  }
  expect(readTracing(supported).unsupported).toEqual([])
  const names = readTracing({ ...unsupported, ...BASE }).unsupported
  expect(names).toEqual(Object.keys(unsupported))
})
