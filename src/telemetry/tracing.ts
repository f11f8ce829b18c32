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
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node'
import { STATUS_CODES, type ClientRequest, type IncomingMessage } from 'node:http'
import { register } from 'node:module'
import { IncomingRequest } from '../http/request.ts'
import type { Logger } from './log.ts'

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
  let lastReason: string | undefined
  function report(error: unknown): void {
    const reason = reasonOf(error as Error)
    if (reason === lastReason) return
    lastReason = reason
    const to = endpoint.origin + endpoint.pathname // the other parts can be a credential
    tracing.log?.warn(`traces cannot be sent to ${to}: ${reason}`)
  }
  setGlobalErrorHandler(report)
  const exporter = new OTLPTraceExporter({ url: endpoint.href })
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
  const tracing = {
    /** Gets a warning when spans cannot be sent, and when the reason changes. Set after the start. */
    log: undefined as Logger | undefined,
    /** Sends the last traces. */
    stop: () => provider.shutdown().catch(report),
  }
  return tracing
}

/** The same text as long as the cause is the same. Has nothing of the request, and only the status of the response. */
function reasonOf({ code, message }: Error & { code?: number | string }): string {
  if (typeof code === 'number') return `${code} ${STATUS_CODES[code] ?? ''}`
  if (code?.startsWith('HPE_')) return `no HTTP/1.1 (${code}): is it the port for gRPC?`
  return code ?? message.replace(/.*time.*/i, 'no response in time') // three texts of the library
}

/** Removes what can name an email: from the path, the query and all errors. The log has the errors, with the id of the trace. */
class RedactingSpanProcessor extends BatchSpanProcessor {
  private readonly redactPath: (path: string) => string

  constructor(exporter: OTLPTraceExporter, redactPath: (path: string) => string) {
    super(exporter)
    this.redactPath = redactPath
  }

  override onEnd(span: ReadableSpan): void {
    const path = span.attributes['url.path']
    if (typeof path === 'string') span.attributes['url.path'] = this.redactPath(path)
    for (const name of Object.keys(span.attributes))
      if (FROM_CLIENTS.test(name)) delete span.attributes[name]
    delete span.status.message
    span.events.length = 0
    super.onEnd(span)
  }
}

/** The query, and the name that the client's program gives itself: both can be any text. */
const FROM_CLIENTS = /^url\.query$|agent/

/** Gives the request log the id of the trace, which may begin with this request. */
function setTraceId(span: Span, request: IncomingMessage | ClientRequest): void {
  if (request instanceof IncomingRequest) request.log['trace_id'] = span.spanContext().traceId
}

/** Probes come so often that their traces would hide the others. */
const isProbe = ({ url = '' }: { url?: string }) => /^\/(livez|readyz|metrics)\b/.test(url)
