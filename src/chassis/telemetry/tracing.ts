// OpenTelemetry, as its environment variables say: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
// Loaded only when traces are configured. A failure of tracing never changes what the service does. Never shows a credential.
import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import * as resources from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Logger } from './log.ts'
import { checkVariables, valueOf } from './otel-variables.ts'
import { createSpans, type SpanOptions } from './spans.ts'

export type Tracing = NonNullable<ReturnType<typeof startTracing>>

/**
 * Starts to send spans; undefined if they are turned off, or if another SDK was started in this process.
 *
 * @param log gets a warning when spans cannot be sent, and for each value that is ignored; each text once
 */
export function startTracing(options: SpanOptions, log: Logger) {
  if (valueOf('OTEL_SDK_DISABLED') === 'true' || valueOf('OTEL_TRACES_EXPORTER') === 'none') return
  const getTracer = (name: string) => provider.getTracer(name)
  const isFirst = trace.setGlobalTracerProvider({ getTracer })
  if (!isFirst) log.warn(`traces: ${OTHER_SDK}`)
  if (!isFirst) return
  const said = new Set<string>()
  const warn = (text: string, more = '') => {
    if (said.size < said.add(text).size) log.warn(text + more)
  }
  checkVariables((problem) => warn(`traces: ${problem}`))
  const report = ({ code, message }: Error & { code?: number | string }) =>
    warn(`traces cannot be sent: ${code ?? message}`) // the message of an error with a code can have a credential
  setGlobalErrorHandler((error) => report(error as Error))
  const diagnose = (text: string, reason?: unknown) => {
    if (text.includes('duplicate registration')) return warn(`traces: ${SECOND_SDK}`)
    if (!text.startsWith(REFUSED)) return warn(`traces: ${text.replace(NO_TWO_ALIKE, '')}`)
    warn(`traces: the collector has refused some spans: `, String(reason)) // its reasons may be of any number
  }
  const debug = (text: string) => text.startsWith('EnvDetector failed') && diagnose(BAD_PAIR)
  const logger = { error: diagnose, warn: diagnose, info() {}, debug, verbose() {} }
  const listen = (logLevel: DiagLogLevel) =>
    diag.setLogger(logger, { logLevel, suppressOverrideMessage: true })
  listen(DiagLogLevel.DEBUG)

  const name = resources.resourceFromAttributes({ 'service.name': options.name })
  const environment = resources.detectResources({ detectors: [resources.envDetector] })
  listen(DiagLogLevel.WARN) // at DEBUG, a GET by id that is not sampled takes 6 % more: the SDK says so each time
  const provider = new BasicTracerProvider({
    resource: resources.defaultResource().merge(name).merge(environment),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  return {
    ...createSpans(provider.getTracer('openapi-chassis'), options),
    /** Sends the last spans. */
    stop: () => provider.shutdown().catch(report),
  }
}

const OTHER_SDK = 'another OpenTelemetry SDK was started in this process: the service has no spans'
const SECOND_SDK =
  'another OpenTelemetry SDK is in this process: spans of both may go to one collector'
const REFUSED = 'Received Partial Success'
/** What differs each time: a number of spans, and the text of a response. */
const NO_TWO_ALIKE = /\b\d+ (?=spans)|(?<=^Failed to parse trace export response): .*/s
const BAD_PAIR = 'OTEL_RESOURCE_ATTRIBUTES is ignored: it must be name=value, percent-encoded'
