// A request, with what the log and the metrics say about it, and as a holder of memory. Node's server makes one for
// each request.
import { IncomingMessage } from 'node:http'
import type { Holder } from './budget.ts'
import type { Connection } from './connections.ts'

export class Request extends IncomingMessage implements Holder {
  /** The id in `X-Request-Id` and in the log. */
  id?: string
  /** The trace that the request is part of. */
  trace?: string | undefined
  /** The operation that the request reached: its operationId. */
  operation?: string
  /** The user for whom the token was issued. */
  userId?: string
  /** Why the guard refused the token. */
  refused?: string

  /** The connection it came on. Node's class has another `connection`. */
  via?: Connection
  /** When the service began to serve it, in milliseconds. */
  began = 0

  // For the budget of memory.
  least = 0
  isOver = false
  /** Stops reading the body, if it is being read. The client still gets a response. */
  stopReading?: (() => void) | undefined

  #offersUpgrade = false

  isBusy(): boolean {
    return this.via?.isBusyWith(this) ?? true
  }

  giveUp(): void {
    if (this.stopReading) this.stopReading()
    else this.via?.cut()
  }

  /**
   * Whether Node's parser stops after this request. By default it stops for an offer to upgrade. Here it also
   * stops when the connection is closed: otherwise it would create every request that a packet contains, and
   * 60 packets of 64 KB would take 200 MB.
   */
  get upgrade(): boolean {
    return this.#offersUpgrade || this.socket.destroyed
  }

  set upgrade(offered: boolean | null) {
    if (offered !== null) this.#offersUpgrade = offered // null: the constructor of Node's class
  }
}
