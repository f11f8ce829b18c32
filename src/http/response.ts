// A response of Node's server that a client can read while it is still sending.
import { ServerResponse } from 'node:http'
import type { IncomingRequest } from './request.ts'

export class OutgoingResponse extends ServerResponse<IncomingRequest> {
  /** Whether `end` was called. */
  isEnded = false

  /**
   * Sends the response. If the body of the request is still arriving, drops the rest of it before the response ends:
   * otherwise the end of the connection could reset it, and the client would lose the response (RFC 9112 §9.6).
   */
  override end(content?: unknown, ...rest: unknown[]): this {
    this.isEnded = true
    if (this.req.complete) return super.end(content, ...(rest as []))
    if (content) this.write(content)
    else this.flushHeaders()
    void this.#endAfterBody()
    return this
  }

  async #endAfterBody(): Promise<void> {
    await this.req.dropRest()
    super.end()
    if (!this.req.complete) this.req.socket.destroySoon()
  }
}
