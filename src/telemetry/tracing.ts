// OpenTelemetry traces of HTTP, the router and MongoDB. Loaded only when there is somewhere to send them
// to, and before what it instruments. The rest of OpenTelemetry's environment variables count, too:
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
import type { Span } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { KoaInstrumentation } from '@opentelemetry/instrumentation-koa'
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { register } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { Request } from '../http/request.ts'

/** How long, in milliseconds, the last traces may take to be sent. */
const PATIENCE = 2_000

/** Traces what is imported from now on. @returns sends what is left, and ends it */
export function startTracing(): () => Promise<void> {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url)
  const name = resourceFromAttributes({ 'service.name': 'users-service' })
  const provider = new NodeTracerProvider({
    resource: name.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({ ignoreIncomingRequestHook: isProbe, requestHook: nameTrace }),
      new KoaInstrumentation(),
      new MongoDBInstrumentation(),
    ],
  })
  return () => Promise.race([provider.shutdown(), sleep(PATIENCE)])
}

/** Tells the request log the trace, which may begin with this request. */
function nameTrace(span: Span, request: IncomingMessage | ClientRequest): void {
  if (request instanceof Request) request.trace = span.spanContext().traceId
}

/** Probes are asked so often that they would bury what matters. */
const isProbe = ({ url = '' }: { url?: string }) => /^\/(livez|readyz|metrics)\b/.test(url)
