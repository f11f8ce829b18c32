// The door of the chassis: what a service is made of, what it gets, and what it may use. A service imports nothing else
// of the chassis; its programs also have programs.ts.
import type Koa from 'koa'
import type { Config, Variables } from './config.ts'
import type { Contract } from './contract/contract.ts'
import type { Handlers } from './contract/handlers.ts'
import type { HttpError } from './http/http-error.ts'

/** A service: one contract, the handlers of its operations, a guard and a store. `serve` runs it. */
export interface Service<Operations, Own extends Variables> {
  /** Its title names the service in the log, the metrics and traces, and its version is that of the service. */
  contract: Contract<Operations>
  /** Its own environment variables, beside those of the chassis. */
  variables: Own
  /** What the log and traces show of a path. It gets the path with `…` in place of segments that have special characters. */
  redactPath?: (path: string) => string
  /** Opens the service. Called once, before it listens. Its error ends the process: one line, and exit code 1. */
  open: (config: Config<Own>, tools: Tools) => Promise<Parts<Operations>>
}

/** What `open` gets. */
export interface Tools {
  /** Writes lines to the log. */
  log: Record<'info' | 'warn' | 'error', (text: string) => void>
  /** `store` with these methods measured, for the metrics: their times, and how often they reject with a StoreFailure. */
  measure: <S extends object>(store: S, methods: readonly (keyof S & string)[]) => S
}

/** What `open` returns. */
export interface Parts<Operations> {
  guard: Guard
  /**
   * One function for each operation. Each returns a documented response, or throws. A list may be an async iterable of
   * pages: each must be a new array, because it is emptied when it has been written.
   */
  handlers: Handlers<Operations>
  /** The response to an error of the service; undefined for any other error, which becomes a 500. */
  toHttpError?: (error: unknown) => HttpError | undefined
  store: Store
  /**
   * Called when the service listens; may log what a person should know. `isEmpty` is undefined if the store did not
   * respond. `isPublic`: other machines can reach the service, and it accepts any host name (HOST, ALLOWED_HOSTS).
   */
  onListening?: (state: { isEmpty: boolean | undefined; isPublic: boolean }) => void
}

/**
 * The first to see each request. Calls `next`, or throws an HttpError. `ctx.path` is the path exactly as the client sent
 * it, without BASE_PATH. May set `Cache-Control`, which is `no-store` otherwise, and fields of the line in the log, with
 * `logOf(ctx)`: the field `refused`, a reason from a small set, is also counted in `tokens_refused_total`.
 */
export type Guard = Koa.Middleware

/** What a store says of itself. Its calls end within seconds; a StoreFailure that they reject with becomes a 500. */
export interface Store {
  /** Where the records are, for people; without credentials. */
  description: string
  /** Called every second. The service is ready as soon as it has resolved once. */
  isEmpty: () => Promise<boolean>
  /** Whether the database was deleted or replaced while it was open: then the service is not ready any more. */
  isGone?: () => boolean
  /** Called once, when `isGone` has returned true: secures what is left of the database. */
  onGone?: () => void
  close: () => Promise<void>
}

export { serve } from './serve.ts'
export { loadContract } from './contract/contract.ts'
export { duration, integer, list, secret, text } from './config.ts'
export { HttpError } from './http/http-error.ts'
export { logOf } from './http/request.ts'
export { etagOf, ifMatch, ifNoneMatch, preconditionFailed } from './preconditions.ts'
export { StoreFailure } from './failure.ts'
export { batched } from './batch.ts'
export { openTokens, tokenVariables } from './tokens/open.ts'

export type { Config, Handlers, Variables }
export type { Client } from './batch.ts'
export type { Tokens } from './tokens/tokens.ts'
