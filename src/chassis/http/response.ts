// A response of Node's server that a client can read while it is still sending.
import { ServerResponse } from 'node:http'
import type { IncomingRequest } from './request.ts'

export class OutgoingResponse extends ServerResponse<IncomingRequest> {
  /** Whether `end` was called. */
  isEnded = false
  /** When all of it was written before the end of the request, in milliseconds. */
  earlyEnd: number | undefined
  /** How many bytes of the body were written: Node sends none for HEAD. */
  bodyBytes = 0

  /**
   * Sends the response, unless it already has an end. If the body of the request is still arriving, drops the rest of it
   * before the response ends: otherwise the end of the connection could reset it, and the client would lose the response
   * (RFC 9112 §9.6). A client that waits for `100 Continue` sends no body.
   */
  override end(content?: unknown, ...rest: unknown[]): this {
    if (this.isEnded) return this
    this.isEnded = true
    if (content && typeof content !== 'function' && this.req.method !== 'HEAD')
      this.bodyBytes += Buffer.byteLength(content as string | Buffer)
    const isReceived = this.req.complete || this.req.headers.expect
    if (isReceived && !(content && this.hasHeader('Content-Length')))
      return super.end(content, ...(rest as []))
    if (content) this.write(content)
    else this.flushHeaders()
    this.socket?.uncork() // one write: Node's `end(content)` gathers two, and a GET by id takes 4 % more
    if (isReceived) return super.end()
    this.earlyEnd = performance.now()
    void this.#endAfterBody()
    return this
  }

  async #endAfterBody(): Promise<void> {
    await this.req.dropRest()
    super.end()
    if (!this.req.complete) this.req.socket.destroySoon()
  }
}
