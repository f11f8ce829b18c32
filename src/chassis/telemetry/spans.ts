// The spans: one for each request that a handler gets, one for each measured call of a store. They say what the chassis
// knows, and no text of a client: no query, header, message or name. The names of what they say are those of the semantic
// conventions 1.45.0: https://opentelemetry.io/docs/specs/semconv/http/http-spans/
import * as otel from '@opentelemetry/api'
import { isIP } from 'node:net'
import { StoreFailure } from '../failure.ts'
import type { IncomingRequest } from '../http/request.ts'
import type { OutgoingResponse } from '../http/response.ts'
import type { createServer } from '../http/server.ts'
import { hostOf } from '../http/target.ts'
import type { StoreCall } from './metrics.ts'

type Handle = Parameters<typeof createServer>[0]

export interface SpanOptions {
  /** Of the service. */
  name: string
  operations: { id: string; path: string }[]
  BASE_PATH: string
  /** Of other hosts that a client names, spans have only addresses. */
  ALLOWED_HOSTS: string[]
  redactPath: (url: string) => string
}

export type Spans = ReturnType<typeof createSpans>

export function createSpans(tracer: otel.Tracer, { redactPath, ...options }: SpanOptions) {
  const names = ['localhost', ...options.ALLOWED_HOSTS].map((name) => name.toLowerCase())
  const routes = new Map(options.operations.map(({ id, path }) => [id, options.BASE_PATH + path]))

  function addressOf({ url = '', headers }: IncomingRequest): otel.Attributes {
    const [, ipv6, other = '', port] = HOST.exec(hostOf(url) ?? headers.host ?? '') ?? []
    const address = ipv6 ?? other.toLowerCase()
    if (!isIP(address) && !names.includes(address)) return {}
    return { 'server.address': address, 'server.port': port ? Number(port) : undefined }
  }

  function end(span: otel.Span, request: IncomingRequest, response: OutgoingResponse): void {
    const { operation = '', code, aborted = 'left' } = request.log
    const method = METHOD.exec(request.method!)?.[0]
    const route = routes.get(operation)
    const status = response.headersSent ? response.statusCode : undefined
    const isCutOff = request.socket.destroyed && !response.earlyEnd
    // Also a list that broke off: its status is that of a success.
    const isFailed = status !== undefined && (status >= 500 || (status < 400 && code !== undefined))
    span.updateName(`${method ?? 'HTTP'} ${route ?? ''}`.trim())
    span.setAttributes({
      'http.request.method': method ?? '_OTHER',
      'url.scheme': 'http',
      'url.path': redactPath(request.url ?? ''),
      ...addressOf(request),
      'http.route': route,
      'http.response.status_code': status,
      'error.type': code ?? (isCutOff ? aborted : isFailed ? String(status) : undefined),
    })
    if (isFailed) span.setStatus(FAILED)
    span.end()
  }

  return {
    /**
     * Returns `handle` with a span for each request, in whose context it runs: from the moment when the request is served,
     * as its line in the log. `tracestate` is dropped, because its values can be any text.
     */
    ofRequests(handle: Handle): Handle {
      return (request, response) => {
        const { traceparent } = request.headers
        const parent = otel.propagation.extract(otel.ROOT_CONTEXT, { traceparent })
        const span = tracer.startSpan('HTTP', { kind: otel.SpanKind.SERVER }, parent)
        request.log.trace_id = span.spanContext().traceId
        if (span.isRecording())
          response.prependListener('close', () => end(span, request, response)) // before the line is written
        const context = otel.trace.setSpan(parent, span)
        return otel.context.with(context, handle, undefined, request, response)
      }
    },

    /** Returns a function that calls an operation of a store, in a span if that of its request records. */
    ofStore(operation: string, system: string | undefined) {
      const attributes = { 'db.operation.name': operation, 'db.system.name': system }
      const inSpan = async (call: StoreCall, args: unknown[]) => {
        const span = tracer.startSpan(operation, { kind: otel.SpanKind.CLIENT, attributes })
        try {
          return await call(...args)
        } catch (error) {
          if (error instanceof StoreFailure)
            span.setStatus(FAILED).setAttribute('error.type', error.kind)
          throw error
        } finally {
          span.end()
        }
      }
      return (call: StoreCall, args: unknown[]) =>
        otel.trace.getActiveSpan()?.isRecording() ? inSpan(call, args) : call(...args)
    },
  }
}

const FAILED = { code: otel.SpanStatusCode.ERROR }

/** The methods of the conventions. */
const METHOD = /^(GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|QUERY)$/

const HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i
