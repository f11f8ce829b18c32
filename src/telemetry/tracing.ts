// OpenTelemetry traces of HTTP, the router and MongoDB. Loaded only when they are configured, and before the
// modules that it instruments. A failure of tracing never changes what the service does.
import type { Span } from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
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
import { IncomingRequest } from '../http/request.ts'
import { reasonOf, TraceExporter } from './trace-exporter.ts'

export type Tracing = ReturnType<typeof startTracing>

/**
 * Traces the modules that are imported from now on.
 *
 * @param endpoint where the collector takes traces
 * @param service the name of this service in traces
 * @param redactPath returns what may be shown of a path
 */
export function startTracing(endpoint: URL, service: string, redactPath: (path: string) => string) {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
  const exporter = new TraceExporter(endpoint)
  setGlobalErrorHandler((error) => exporter.report(reasonOf(error as Error))) // the processor gave up
  const name = resourceFromAttributes({ 'service.name': service })
  const provider = new NodeTracerProvider({
    resource: name.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new RedactingSpanProcessor(exporter, redactPath)],
  })
  provider.register()
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({ ignoreIncomingRequestHook: isProbe, requestHook: setTraceId }),
      new KoaInstrumentation(),
      new MongoDBInstrumentation(),
    ],
  })
  /** Sends the last traces. */
  const stop = () => provider.shutdown().catch(() => {}) // the exporter has reported why
  return { exporter, stop }
}

/** Removes what can name an email: from the path, the query and all errors. The log has the errors, with the id of the trace. */
class RedactingSpanProcessor extends BatchSpanProcessor {
  private readonly redactPath: (path: string) => string

  constructor(exporter: TraceExporter, redactPath: (path: string) => string) {
    super(exporter)
    this.redactPath = redactPath
  }

  override onEnd(span: ReadableSpan): void {
    const path = span.attributes['url.path']
    if (typeof path === 'string') span.attributes['url.path'] = this.redactPath(path)
    delete span.attributes['url.query']
    delete span.status.message
    span.events.length = 0
    super.onEnd(span)
  }
}

/** Gives the request log the id of the trace, which may begin with this request. */
function setTraceId(span: Span, request: IncomingMessage | ClientRequest): void {
  if (request instanceof IncomingRequest) request.log['trace_id'] = span.spanContext().traceId
}

/** Probes come so often that their traces would hide the others. */
const isProbe = ({ url = '' }: { url?: string }) => /^\/(livez|readyz|metrics)\b/.test(url)
