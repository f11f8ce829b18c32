// The environment variables of OpenTelemetry that its SDK would misread, or take as they are, without a word.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/

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
      if (rule !== PAIRS) process.env[name] = value.toLowerCase()
      if (isValid(valueOf(name))) continue
      delete process.env[name]
      warn(`${rule === PAIRS ? name : `${name}=${value}`} is ignored: it must be ${rule}`)
    }
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

/** A list of `name=value`, percent-encoded: some are keys. */
const PAIRS = 'name=value, separated by commas and percent-encoded'
const isPair = (pair: string) =>
  /^\s*[^=;\s]+\s*=[^=]*\S/.test(pair) && !/%(?![\da-f]{2})/i.test(pair)

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
  [
    PAIRS,
    (value) => value.split(',').every(isPair),
    ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'],
  ],
]
