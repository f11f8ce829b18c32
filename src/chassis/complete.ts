// Runs a guard to its end. What its author forgets becomes an error: never a response that looks right, or silence.
import type Koa from 'koa'
import { logMistake } from './errors.ts'
import type { OnServer } from './http/context.ts'
import { HttpError } from './http/http-error.ts'
import type { Guard, GuardContext } from './service.ts'

/**
 * A guard that ends when it and what it has begun with `next` have ended. It throws the first error in time, also one that
 * the guard has caught. Each other error is a line in the log.
 */
export function complete<Caller>(check: Guard<Caller>): Koa.Middleware<Koa.DefaultState, OnServer> {
  if (typeof check !== 'function') throw new TypeError('`open` must return a guard')
  return async function guard(ctx, next) {
    const errors: unknown[] = [] // the first is the response
    const fail = (error: unknown) => {
      if (!errors.includes(error)) errors.push(error)
    }
    let served: Promise<{ body: unknown; status: number } | void> | undefined
    let serve = () => {
      const response = next() as Promise<void>
      const settled = response.then(() => ({ body: ctx.body, status: ctx.status }), fail) // before the guard can go on
      served ??= settled // a second call has failed already
      return response
    }
    try {
      await check(ctx as GuardContext<unknown>, () => serve())
    } catch (error) {
      if (served && errors.length === 0 && error instanceof HttpError)
        logMistake(ctx, THROWN, error)
      fail(error)
    }
    serve = async () => logMistake(ctx, LATE) // not an error: nobody may wait for it
    const response = await served
    for (const error of errors.slice(1)) logMistake(ctx, OTHER, error)
    if (errors.length > 0) throw errors[0]
    if (!response) throw new Error(FORGOTTEN)
    if (ctx.body !== response.body || ctx.status !== response.status) throw new Error(CHANGED)
  }
}

const OTHER = 'an error that is not the response, which is another error'
const THROWN = 'the guard has refused the request after `next`: its operation may have been done'
const LATE = 'the guard has called `next` after its end: nothing was served'
const FORGOTTEN = 'the guard has ended without calling `next`, and without an error'
const CHANGED = 'the guard has changed the response: only handlers respond'
