// Variables of OpenTelemetry that its SDK would misread. (What it then sends: tracing.long.ts.)
import { afterEach, expect, test } from '@jest/globals'
import { checkVariables } from '../../../src/chassis/telemetry/otel-variables.ts'

const before = { ...process.env }
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
})

/** What is said, and what is left in the environment. */
function check(variables: Record<string, string>) {
  const said: string[] = []
  Object.assign(process.env, variables)
  checkVariables((problem) => said.push(problem))
  const left = Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_'))
  return { said, left: Object.fromEntries(left) }
}

test.each([
  ['OTEL_SDK_DISABLED', 'yes', 'true or false'],
  ['OTEL_TRACES_EXPORTER', 'otlp,console', 'otlp or none'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf', 'http/json'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc', 'http/json'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', 'none or gzip'],
  ['OTEL_TRACES_SAMPLER_ARG', 'abc', 'a number between 0 and 1'],
  ['OTEL_TRACES_SAMPLER_ARG', '50', 'a number between 0 and 1'],
  ['OTEL_PROPAGATORS', 'tracecontext,b3', 'tracecontext'],
  ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '0', 'a whole number above 0'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '-1', 'a whole number above 0'],
  ['OTEL_BSP_SCHEDULE_DELAY', '5s', 'a whole number'],
  ['OTEL_BSP_EXPORT_TIMEOUT', '1e3', 'a whole number'],
  ['OTEL_ATTRIBUTE_COUNT_LIMIT', '-1', 'a whole number'],
  ['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', '-1', 'a whole number'],
  ['OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', '-1', 'a whole number'],
  ['OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT', '-1', 'a whole number'],
  [
    'OTEL_TRACES_SAMPLER',
    'ratio',
    'always_on or always_off or traceidratio or parentbased_always_on or parentbased_always_off or parentbased_traceidratio',
  ],
])('%s=%s is ignored with a warning, so that the default holds', (name, value, rule) => {
  expect(check({ [name]: value })).toEqual({
    said: [`${name}=${value} is ignored: it must be ${rule}`],
    left: {},
  })
})

test.each(['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'])(
  '%s with what is no pair, or of which a part is lost, is a warning without its value',
  (name) => {
    const said = `${name} is not sent as it is: it must be name=value, separated by commas and percent-encoded`
    for (const value of ['k', '=x', 'a=b,c', 'a=%zz', 'a=%ff', 'a=b;c'])
      expect(check({ [name]: value })).toEqual({ said: [said], left: { [name]: value } })
  },
)

test('an endpoint with /v1/traces, which is added, is a warning unless it is overruled', () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://x/v1/traces/'
  const said = 'OTEL_EXPORTER_OTLP_ENDPOINT must be without /v1/traces, which is added to it'
  expect(check({ OTEL_EXPORTER_OTLP_ENDPOINT }).said).toEqual([said])
  const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = 'http://x/v1/traces'
  expect(check({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT }).said).toEqual(
    [],
  )
})

test.each([
  ['OTEL_TRACES_EXPORTER', 'OTLP', 'otlp'],
  ['OTEL_TRACES_SAMPLER', 'ALWAYS_OFF', 'always_off'],
  ['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', 'GZip', 'gzip'],
  ['OTEL_PROPAGATORS', 'baggage, tracecontext', 'baggage, tracecontext'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'Api-Key=aB%2C==, x = Basic y,', 'Api-Key=aB%2C==, x = Basic y,'],
  ['OTEL_BSP_SCHEDULE_DELAY', '0', '0'],
  ['OTEL_SDK_DISABLED', '', ''],
])('%s=%s is taken, whatever its letter case', (name, value, taken) => {
  expect(check({ [name]: value })).toEqual({ said: [], left: { [name]: taken } })
})

test('a variable of all signals counts only without that of traces', () => {
  const variables = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd' }
  const ofTraces = {
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
  }
  expect(check({ ...variables, ...ofTraces })).toEqual({ said: [], left: ofTraces })
})

test('a sampler of a ratio has its default, 1', () => {
  const OTEL_TRACES_SAMPLER = 'parentbased_traceidratio'
  expect(check({ OTEL_TRACES_SAMPLER }).left).toEqual({
    OTEL_TRACES_SAMPLER,
    OTEL_TRACES_SAMPLER_ARG: '1',
  })
})
