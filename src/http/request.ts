// A request, with what the log and the metrics say about it. Node's server makes one for each request.
import { IncomingMessage } from 'node:http'

export class Request extends IncomingMessage {
  /** Names the request in `X-Request-Id` and in the log. */
  id?: string
  /** The trace that the request is part of. */
  trace?: string | undefined
  /** The operation that the request reached: its operationId. */
  operation?: string
  /** The user for whom the token was issued. */
  userId?: string
  /** Why the guard refused the token. */
  refused?: string

  #offersUpgrade = false

  /**
   * Whether Node's parser stops after this request. It does so for an offer to upgrade, and here also when
   * the connection is closed: otherwise it makes a request of every line that one packet holds, and 60
   * packets of 64 KB take 200 MB.
   */
  get upgrade(): boolean {
    return this.#offersUpgrade || this.socket.destroyed
  }

  set upgrade(offered: boolean | null) {
    if (offered !== null) this.#offersUpgrade = offered // null: the constructor of Node's class
  }
}
