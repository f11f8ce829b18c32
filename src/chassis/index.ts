// The door of the chassis: what a service is made of, what it gets, and what it may use. A service imports nothing else
// of the chassis; its programs also have programs.ts.
import type Koa from 'koa'
import type { Config, Variables } from './config.ts'
import type { Contract } from './contract/contract.ts'
import type { Handlers } from './contract/handlers.ts'
import type { HttpError } from './http/http-error.ts'

/** A service: one contract, the handlers of its operations, a guard and a store. `serve` runs it. */
export interface Service<Operations, Own extends Variables> {
  /** The title names the service in the log, the metrics and traces; the version is that of the service. */
  contract: Contract<Operations>
  /** Its own environment variables, beside those of the chassis. */
  variables: Own
  /** What the log and traces show of a path: it gets the path without segments that are not plain, such as emails. */
  redactPath?: (path: string) => string
  /** Opens the service: called once, before it listens. An error ends the process with its message and exit code 1. */
  open: (config: Config<Own>, tools: Tools) => Promise<Parts<Operations>>
}

/** What `open` gets. */
export interface Tools {
  log: Log
  /** `store` with these methods measured: metrics show their times and how often they reject with a StoreFailure. */
  measure: <S extends object>(store: S, methods: readonly (keyof S & string)[]) => S
}

/** Writes a line to the log. */
export type Log = Record<'info' | 'warn' | 'error', (text: string) => void>

/** What `open` returns. */
export interface Parts<Operations> {
  /**
   * The first to see a request: `ctx.path` is the path as the client sent it, without BASE_PATH. Throws an HttpError, or
   * calls `next`. May set `Cache-Control`, which is `no-store` otherwise, and fields of the line in the log by
   * `logOf(ctx)`: `refused`, a reason, is also counted in `tokens_refused_total`.
   */
  guard: Koa.Middleware
  /** One function for each operation. Returns a documented response, or throws. */
  handlers: Handlers<Operations>
  /** The response to an error of its own; undefined for any other error, which becomes a 500. */
  toHttpError?: (error: unknown) => HttpError | undefined
  store: Store
  /** Called when it listens: may log what a person should know. */
  onListening?: (state: Started) => void
}

/** What a service knows when it listens. */
export interface Started {
  /** Whether the store is empty; undefined if it did not respond. */
  isEmpty: boolean | undefined
  /** Whether it can be reached from other machines, under any name (HOST, ALLOWED_HOSTS). */
  isPublic: boolean
}

/**
 * What a store says of itself; its other methods are those that its handlers call. It rejects with a StoreFailure when it
 * fails, which becomes a 500.
 */
export interface Store {
  /** Where the records are, for people; without credentials. */
  description: string
  /** Called every second. The service is ready when it has resolved once, and stays ready when it rejects later. */
  isEmpty: () => Promise<boolean>
  /** Whether the database was deleted or replaced while it was open: then the service is not ready any more. */
  isGone?: () => boolean
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
