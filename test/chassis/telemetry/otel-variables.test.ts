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

const PAIRS = 'it must be name=value, separated by commas and percent-encoded'

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
  ['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', '-1', 'a whole number'],
])('%s=%s is ignored with a warning, so that the default holds', (name, value, rule) => {
  expect(check({ [name]: value })).toEqual({
    said: [`${name}=${value} is ignored: it must be ${rule}`],
    left: {},
  })
})

test.each(['k', '=x', 'a=', 'a=%zz', 'a=b,c', 'Bearer k=v'])(
  'headers that are no pairs are ignored, without their values: %s',
  (OTEL_EXPORTER_OTLP_HEADERS) => {
    const said = [`OTEL_EXPORTER_OTLP_HEADERS is ignored: ${PAIRS}`]
    expect(check({ OTEL_EXPORTER_OTLP_HEADERS })).toEqual({ said, left: {} })
  },
)

test.each([
  ['OTEL_TRACES_EXPORTER', 'OTLP', 'otlp'],
  ['OTEL_TRACES_SAMPLER', 'ALWAYS_OFF', 'always_off'],
  ['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', 'GZip', 'gzip'],
  ['OTEL_PROPAGATORS', 'baggage, tracecontext', 'baggage, tracecontext'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'Api-Key=aB%2C==, x = Basic y', 'Api-Key=aB%2C==, x = Basic y'],
  ['OTEL_BSP_SCHEDULE_DELAY', '0', '0'],
  ['OTEL_SDK_DISABLED', '', ''],
])('%s=%s is taken, whatever its letter case', (name, value, taken) => {
  expect(check({ [name]: value })).toEqual({ said: [], left: { [name]: taken } })
})

test('a variable of all signals is nothing beside that of traces', () => {
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
