// Reads from OpenTelemetry's environment variables where traces go. Its libraries read the others:
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/

/** Where to send traces, if anywhere; a text if that is not an HTTP URL. */
export function tracesEndpoint(environment: NodeJS.ProcessEnv): URL | string | undefined {
  const { OTEL_TRACES_EXPORTER: exporter, OTEL_SDK_DISABLED: disabled = '' } = environment
  const isOn = (exporter || 'otlp') === 'otlp' && disabled.toLowerCase() !== 'true'
  const base = environment['OTEL_EXPORTER_OTLP_ENDPOINT']
  const own = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  const given = own || base
  if (!isOn || !given) return undefined
  // Without a host, the path that is added would become the host.
  if (!/^https?:\/\/[^/\\]/i.test(given) || !URL.canParse(given)) return given
  return new URL(own || given.replace(/\/?$/, '/v1/traces'))
}
