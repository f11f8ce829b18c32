// What a service is made of, and what it gets: the page to read before writing one.
import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import type { Config } from './config/config.ts'
import type { Variables } from './config/validators.ts'
import type { Contract } from './contract/contract.ts'
import type { Handlers } from './contract/handlers.ts'
import type { LogFields } from './http/client.ts'
import type { HttpError } from './http/http-error.ts'

/**
 * A service: one contract, the handlers of its operations, a guard and a store. `serve` runs it, and `start` in a test.
 * Work for one request keeps that request's async context. A batch that serves several requests has none.
 *
 * @typeParam Operations the type `operations` that openapi-typescript makes
 * @typeParam Own its variables
 * @typeParam Caller who calls, as the guard says it to the handlers: never null or undefined
 */
export interface Service<Operations, Own extends Variables, Caller> {
  /** Its title names the service in the log, the metrics and traces, and its version is that of the service. */
  contract: Contract<Operations>
  /** Its own environment variables, beside those of the chassis. */
  variables: Own
  /**
   * What the log and traces show of a path, in which `…` already stands in place of parameters with special characters, and
   * of what no operation has.
   */
  redactPath?: (path: string) => string
  /** Opens the service. Called once, before it listens. Its error ends the process: one line, and exit code 1. */
  open: (config: Config<Own>, tools: Tools) => Promise<Parts<Operations, Caller>>
}

/** Returns `service`, with its types: for a service that a file exports, for `serve` and `start`. */
export const defineService = <Operations, Own extends Variables, Caller>(
  service: Service<Operations, Own, Caller>,
): typeof service => service

/** What `open` gets. */
export interface Tools {
  /** Writes lines to the log. */
  log: Record<'info' | 'warn' | 'error', (text: string) => void>
  /** Returns `store`. The metrics then have the times of these methods, and how often they reject with a StoreFailure. */
  measure: <S extends object>(store: S, methods: readonly PromiseMethod<S>[]) => S
}

/** The names of the methods of `S` that return a promise: to measure another one would change what it returns. */
type PromiseMethod<S> = {
  [Name in keyof S & string]: S[Name] extends (...args: never[]) => Promise<unknown> ? Name : never
}[keyof S & string]

/** What `open` returns. */
export interface Parts<Operations, Caller = unknown> {
  guard: Guard<Caller>
  /**
   * One function for each operation. Each returns a documented response, or throws. A list may be an async iterable of
   * pages. A page that its generator keeps takes memory until the client has read it.
   */
  handlers: Handlers<Operations, Caller>
  /** The response to an error that is not an HttpError; undefined for one that the service does not know: it becomes a 500. */
  toHttpError?: (error: unknown) => HttpError | undefined
  store: Store
  /**
   * Called when the service listens; may log what a person should know. `oldest` is that of the store, or undefined if it
   * did not respond.
   */
  onListening?: (oldest: Date | null | undefined) => void
}

/**
 * The first to see each request. Calls `next` once, or throws an HttpError: all else is a 500. `ctx.path` is the path exactly
 * as the client sent it, without BASE_PATH. May set headers before `next`, such as `Cache-Control`, which is `no-store`
 * otherwise; never a body or a status, because only handlers respond. After `next`, a list may have begun without them.
 *
 * It says who calls with `ctx.req.identify(caller)`. An operation with `security` in the contract is not served otherwise:
 * the response is a 500, and the log names the operation.
 */
export type Guard<Caller = unknown> = (
  ctx: GuardContext<Caller>,
  next: () => Promise<void>,
) => Promise<void> | void

/** What a guard needs of Koa's context. */
export interface GuardContext<Caller> extends Readonly<
  Pick<Koa.Context, 'method' | 'url' | 'path' | 'query' | 'host' | 'ip' | 'headers' | 'get'>
> {
  readonly set: <Name extends string>(
    name: Lowercase<Name> extends Framing ? never : Name,
    value: string | string[],
  ) => void
  readonly req: GuardedRequest<Caller>
}

/** The headers by which Node finds the end of a response: with other values, a client would read half of it, or wait. */
type Framing = 'content-length' | 'transfer-encoding' | 'connection'

/** Node's request, as the guard sees it. */
export type GuardedRequest<Caller> = IncomingMessage & {
  identify: (caller: NonNullable<Caller>) => void
  /** Its line in the log. */
  log: LogFields
}

/** What a store says of itself. Its calls end within seconds; a StoreFailure that they reject with becomes a 500. */
export interface Store {
  /** Where the records are, for people; without credentials. */
  description: string
  /** The database, as traces call it: https://opentelemetry.io/docs/specs/semconv/registry/attributes/db/#db-system-name */
  system?: string
  /**
   * When its oldest record was created; null if it has none, or keeps no times. Called every second, as the health check:
   * the service is ready as soon as it has resolved once.
   */
  oldest: () => Promise<Date | null>
  /** Whether the database was deleted or replaced while it was open: then the service is not ready any more. */
  isGone?: () => boolean
  /** Called once, when `isGone` has returned true: secures what is left of the database. */
  onGone?: () => void
  close: () => Promise<void>
}
