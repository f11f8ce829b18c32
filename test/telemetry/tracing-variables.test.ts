// OpenTelemetry's environment variables.
import { expect, test } from '@jest/globals'
import { tracesEndpoint } from '../../src/telemetry/tracing-variables.ts'

const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
const OWN = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://me:pw@collector/x?key=1' }

test.each<[Record<string, string>, string | undefined]>([
  [{}, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
  [BASE, 'http://collector:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector/otlp/' }, 'http://collector/otlp/v1/traces'],
  [{ ...BASE, ...OWN }, OWN.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT],
  [{ ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' }, 'http://collector:4318/v1/traces'],
  [{ ...BASE, OTEL_SDK_DISABLED: 'false' }, 'http://collector:4318/v1/traces'],
  [{ ...BASE, OTEL_SDK_DISABLED: 'True' }, undefined],
  [{ ...BASE, OTEL_TRACES_EXPORTER: 'console' }, undefined],
])('with %j, traces go to %s', (environment, url) => {
  expect(tracesEndpoint(environment)).toEqual(url && new URL(url))
})

test.each(['collector:4318', 'http://collector:$PORT', 'http://'])(
  'an address that is not an HTTP URL is returned as it is: %s',
  (address) => {
    for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])
      expect(tracesEndpoint({ [name]: address })).toBe(address)
  },
)
