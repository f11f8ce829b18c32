// Sends spans to the collector, and tells the log when it does not take them. Never shows a credential.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { STATUS_CODES } from 'node:http'
import type { Logger } from './log.ts'

const NO_RESPONSE = 'no response in time'

/** Warns `log`, which is set after the start, when spans cannot be sent, and again when the reason changes. */
export class TraceExporter extends OTLPTraceExporter {
  log?: Logger
  reason?: string | undefined
  private readonly name: string

  constructor({ href, origin, pathname }: URL) {
    super({ url: href })
    this.name = origin + pathname // the other parts can be a credential
  }

  override export(...[spans, done]: Parameters<OTLPTraceExporter['export']>): void {
    super.export(spans, (result) => {
      this.report(result.error && reasonOf(result.error))
      done(result)
    })
  }

  /** @param reason why spans cannot be sent; none if they were sent */
  report(reason?: string): void {
    if (reason === this.reason) return
    this.reason = reason
    if (reason) this.log?.warn(`traces cannot be sent to ${this.name}: ${reason}`)
    else this.log?.info(`traces are sent to ${this.name} again`)
  }
}

/** The same text as long as the cause is the same. Has nothing of the request, and only the status of the response. */
export function reasonOf({ code, message }: Error & { code?: number | string }): string {
  if (typeof code === 'number') return `${code} ${STATUS_CODES[code] ?? ''}`
  if (code?.startsWith('HPE_')) return `no HTTP/1.1 (${code}): is it the port for gRPC?`
  return code ?? message.replace(/.*time.*/i, NO_RESPONSE) // three texts of the library
}
