// The environment variables of OpenTelemetry whose wrong values its SDK would use, or ignore, without a word.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/

import { parseKeyPairsIntoRecord } from '@opentelemetry/core'

/** The value of a variable, whose letter case means nothing. */
export const valueOf = (name: string): string => process.env[name]?.toLowerCase() ?? ''

/**
 * Removes what the SDK would misread from the environment of this process: it then has its defaults.
 *
 * @param warn gets the end of a sentence for each variable that is wrong; no value of a secret
 */
export function checkVariables(warn: (problem: string) => void): void {
  for (const name of ['PROTOCOL', 'COMPRESSION'])
    if (valueOf(`OTEL_EXPORTER_OTLP_TRACES_${name}`))
      delete process.env[`OTEL_EXPORTER_OTLP_${name}`] // it is overridden
  for (const [rule, isValid, names] of RULES)
    for (const name of names) {
      const value = process.env[name]
      if (!value) continue
      process.env[name] = value.toLowerCase()
      if (isValid(valueOf(name))) continue
      delete process.env[name]
      warn(`${name}=${value} is ignored: it must be ${rule}`)
    }
  for (const name of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'])
    if (!arePairs(process.env[name] ?? '')) warn(`${name} is not sent as it is: ${PAIRS}`)
  const isWhole = /\/v1\/traces\/?$/.test(valueOf('OTEL_EXPORTER_OTLP_ENDPOINT'))
  if (isWhole && !valueOf('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')) warn(TWICE)
  if (valueOf('OTEL_TRACES_SAMPLER').endsWith('ratio'))
    process.env['OTEL_TRACES_SAMPLER_ARG'] ||= '1'
}

type Rule = readonly [rule: string, isValid: (value: string) => boolean, names: string[]]

const oneOf = (values: string[], ...names: string[]): Rule => [
  values.join(' or '),
  (value) => values.includes(value),
  names,
]

const SAMPLERS = ['always_on', 'always_off', 'traceidratio']
const PROPAGATORS = ['tracecontext', 'baggage']

/** Whether the SDK takes each pair, and all of its value. */
const arePairs = (text: string): boolean =>
  !text.includes(';') &&
  Object.keys(parseKeyPairsIntoRecord(text)).length ===
    text.split(',').filter((pair) => pair.trim()).length

const PAIRS = 'it must be name=value, separated by commas and percent-encoded'
const TWICE = 'OTEL_EXPORTER_OTLP_ENDPOINT must be without /v1/traces, which is added to it'

const RULES: Rule[] = [
  oneOf(['true', 'false'], 'OTEL_SDK_DISABLED'),
  oneOf(['otlp', 'none'], 'OTEL_TRACES_EXPORTER'),
  oneOf(['http/json'], 'OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'),
  oneOf(
    ['none', 'gzip'],
    'OTEL_EXPORTER_OTLP_COMPRESSION',
    'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION',
  ),
  oneOf([...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}`)], 'OTEL_TRACES_SAMPLER'),
  [
    'tracecontext', // baggage, which the specification adds by default, is not passed on
    (value) => value.split(/\s*,\s*/).every((name) => PROPAGATORS.includes(name)),
    ['OTEL_PROPAGATORS'],
  ],
  [
    'a number between 0 and 1',
    (value) => Number(value) >= 0 && Number(value) <= 1,
    ['OTEL_TRACES_SAMPLER_ARG'],
  ],
  [
    'a whole number above 0',
    (value) => /^0*[1-9]\d*$/.test(value),
    ['OTEL_BSP_MAX_QUEUE_SIZE', 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'], // of batches of 0, there would be no end
  ],
  [
    'a whole number',
    (value) => /^\d+$/.test(value),
    [
      'OTEL_BSP_SCHEDULE_DELAY',
      'OTEL_BSP_EXPORT_TIMEOUT',
      'OTEL_ATTRIBUTE_COUNT_LIMIT',
      'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT',
      'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
      'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
    ],
  ],
]
