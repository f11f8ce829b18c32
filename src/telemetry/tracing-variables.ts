// Reads OpenTelemetry's environment variables: where traces go, and which variables have no effect. Its libraries read
// the others: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/

/** `NAME=value` of the variables that have an effect, or say what happens anyway. */
const SUPPORTED = [
  /^OTEL_(SDK_DISABLED|SERVICE_NAME|RESOURCE_ATTRIBUTES|TRACES_SAMPLER|TRACES_SAMPLER_ARG)=/,
  /^OTEL_BSP_\w+=[1-9]\d*$/,
  /^OTEL_((SPAN_)?(ATTRIBUTE|EVENT|LINK)_\w+_LIMIT)=/,
  /^OTEL_EXPORTER_OTLP_(TRACES_)?(HEADERS|TIMEOUT|COMPRESSION|\w*CERTIFICATE|CLIENT_KEY)=/,
  /^OTEL_EXPORTER_OTLP_(TRACES_)?(ENDPOINT=https?:\/\/.+|PROTOCOL=http\/json)$/,
  /^OTEL_(TRACES_EXPORTER=(otlp|none)|(METRICS|LOGS)_EXPORTER=none|PROPAGATORS=tracecontext,baggage)$/,
]

/** @returns where to send traces, if anywhere; and the names of the variables that have no effect */
export function readTracing(environment: NodeJS.ProcessEnv) {
  const given = Object.entries(environment).filter(
    ([name, value]) => name.startsWith('OTEL_') && value,
  )
  const hasEffect = ([name, value = '']: [string, string?]) =>
    SUPPORTED.some((pattern) => pattern.test(`${name}=${value}`)) &&
    (!name.endsWith('_ENDPOINT') || URL.canParse(value))
  const unsupported = given.filter((one) => !hasEffect(one)).map(([name]) => name)
  const vars = Object.fromEntries(given)
  const { OTEL_TRACES_EXPORTER: exporter = 'otlp', OTEL_SDK_DISABLED: disabled = '' } = vars
  const base = vars['OTEL_EXPORTER_OTLP_ENDPOINT']?.replace(/\/?$/, '/v1/traces')
  const url = vars['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? base ?? ''
  const isOn = exporter === 'otlp' && disabled.toLowerCase() !== 'true'
  return {
    endpoint: isOn && /^https?:/.test(url) && URL.canParse(url) ? new URL(url) : undefined,
    unsupported,
  }
}
