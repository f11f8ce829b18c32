// OpenTelemetry traces of HTTP, the router and MongoDB. Loaded only when they are configured, and before the
// modules that it instruments. A failure of tracing never changes what the service does. Never shows a credential.
import type { Span } from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { KoaInstrumentation } from '@opentelemetry/instrumentation-koa'
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { register } from 'node:module'
import { IncomingRequest } from '../http/request.ts'
import type { Logger } from './log.ts'

export type Tracing = ReturnType<typeof startTracing>

/**
 * Traces the modules that are imported from now on.
 *
 * @param service the name of this service in traces
 * @param redactPath returns what may be shown of a path
 */
export function startTracing(service: string, redactPath: (path: string) => string) {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
  let lastReason: string | undefined
  function report({ code, message }: Error & { code?: number | string }): void {
    const reason = String(code ?? message) // the message of an error with a code can have a credential
    if (reason === lastReason) return
    lastReason = reason
    tracing.log?.warn(`traces cannot be sent: ${reason}`)
  }
  setGlobalErrorHandler((error) => report(error as Error))
  const name = resourceFromAttributes({ 'service.name': service })
  const provider = new NodeTracerProvider({
    resource: name.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [redactor(redactPath), new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({ ignoreIncomingRequestHook: isProbe, requestHook: setTraceId }),
      new KoaInstrumentation(),
      new MongoDBInstrumentation(),
    ],
  })
  const tracing = {
    /** Gets a warning when spans cannot be sent, and when the reason changes. Set after the start. */
    log: undefined as Logger | undefined,
    /** Sends the last traces. */
    stop: () => provider.shutdown().catch(report),
  }
  return tracing
}

/** Removes what can have personal data: of the path, the query and all errors. The log has the errors, with the id of the trace. */
const redactor = (redactPath: (path: string) => string): SpanProcessor => ({
  onStart() {},
  onEnd({ attributes, status, events }) {
    const path = attributes['url.path']
    if (typeof path === 'string') attributes['url.path'] = redactPath(path)
    for (const name of Object.keys(attributes)) if (FROM_CLIENTS.test(name)) delete attributes[name]
    delete status.message
    events.length = 0
  },
  forceFlush: async () => {},
  shutdown: async () => {},
})

/** The query, and the name that the client's program gives itself: both can be any text. */
const FROM_CLIENTS = /^url\.query$|agent/

/** Gives the request log the id of the trace, which may begin with this request. */
function setTraceId(span: Span, request: IncomingMessage | ClientRequest): void {
  if (request instanceof IncomingRequest) request.log.trace_id = span.spanContext().traceId
}

/** Probes come so often that their traces would hide the others. */
const isProbe = ({ url = '' }: { url?: string }) => /^\/(livez|readyz|metrics)\b/.test(url)
