// The client that waits for the response to one request, as a service sees it.

/** A class, so that `{ ...client }`, which would lose all of it, has another type. */
// oxlint-disable-next-line no-unnecessary-type-parameters -- handlers say who calls
export declare abstract class Client<Caller = unknown> {
  /** Whether it has left: then work that has not begun can be skipped. To look is cheaper than to listen. */
  get hasLeft(): boolean
  /**
   * For what the handler waits for, such as `fetch`. Aborts when the client has left, and 25 s after the request has arrived.
   * Made at its first use.
   */
  get signal(): AbortSignal
  /** Who calls, as the guard said. @throws Error the guard has not said it */
  get caller(): Caller
  /** The line of its request in the log. */
  readonly log: LogFields
}

/** The client has left, so what it waited for was not begun, or not done to its end. */
export class Aborted extends Error {
  readonly code = 'ABORT_ERR' // Node's
}

/** Why the service closed a connection before the end of a response. */
export type CutOff = 'evicted' | 'failed' | 'pipelined' | 'stopped' | 'timeout'

/** Fields that a service adds to the line of a request, without personal data; never those of `ChassisField`. */
export type LogFields = OwnFields & { [Name in ChassisField]?: never }

interface OwnFields {
  /** Why the guard refused the request, from a small set; also counted in `tokens_refused_total`. */
  refused?: string
  [field: string]: string | undefined
}

/** What the chassis collects for the line of a request. */
interface Collected {
  id?: string
  trace_id?: string
  operation?: string
  code?: string
  cause?: string
  /** The names of the query parameters. */
  query?: string | undefined
  /** Why the response was cut off, if not because the client left. */
  aborted?: CutOff
}

export type RequestFields = OwnFields & Collected

/** What the chassis writes into its lines: a service would write it twice, or another value. */
type ChassisField =
  | keyof Collected
  | ('level' | 'time' | 'msg' | 'err' | 'remoteAddress')
  | ('method' | 'path' | 'location' | 'status' | 'bytes' | 'ms')
