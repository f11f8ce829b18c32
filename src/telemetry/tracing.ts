// OpenTelemetry traces of HTTP, the router and MongoDB. Loaded only when they are configured, and before the
// modules that it instruments. OpenTelemetry's own environment variables apply:
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
import type { Span } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { KoaInstrumentation } from '@opentelemetry/instrumentation-koa'
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { register } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { Request } from '../http/request.ts'
import { impersonalPath } from './request-log.ts'

const STOP_TIMEOUT_MS = 2_000

/**
 * Traces the modules that are imported from now on.
 *
 * @returns a function that stops, and sends the last traces if the collector takes them in time
 */
export function startTracing(): () => Promise<void> {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
  const name = resourceFromAttributes({ 'service.name': 'users-service' })
  const provider = new NodeTracerProvider({
    resource: name.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new RedactingSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({ ignoreIncomingRequestHook: isProbe, requestHook: setTraceId }),
      new KoaInstrumentation(),
      new MongoDBInstrumentation(),
    ],
  })
  return () => Promise.race([provider.shutdown(), sleep(STOP_TIMEOUT_MS)])
}

/** Removes what can name an email: from the path, the query and all errors. The log has the errors, with the id of the trace. */
class RedactingSpanProcessor extends BatchSpanProcessor {
  override onEnd(span: ReadableSpan): void {
    const path = span.attributes['url.path']
    if (typeof path === 'string') span.attributes['url.path'] = impersonalPath(path)
    delete span.attributes['url.query']
    delete span.status.message
    span.events.length = 0
    super.onEnd(span)
  }
}

/** Gives the request log the id of the trace, which may begin with this request. */
function setTraceId(span: Span, request: IncomingMessage | ClientRequest): void {
  if (request instanceof Request) request.log['trace_id'] = span.spanContext().traceId
}

/** Probes come so often that their traces would hide the others. */
const isProbe = ({ url = '' }: { url?: string }) => /^\/(livez|readyz|metrics)\b/.test(url)
