// The AbortSignal of one request, for the calls of other services that its handler makes.
import { AsyncResource } from 'node:async_hooks'
import { Aborted } from './client.ts'
import { LIMITS } from './limits.ts'

export type RequestSignal = ReturnType<typeof createSignal>

/** Its listeners run in the async context of this call. @param arrival when the request had arrived, in milliseconds */
export function createSignal(arrival: number) {
  const controller = new AbortController()
  const { signal }: { signal: AbortSignal } = controller
  const abort = AsyncResource.bind((reason: Error) => controller.abort(reason))
  const ms = arrival + LIMITS.signalTimeout - performance.now()
  const timer = setTimeout(() => abort(new DOMException(LATE, 'TimeoutError')), ms).unref()
  return {
    signal,
    /** The request has its response, or its client has left. */
    end(hasLeft: boolean): void {
      clearTimeout(timer)
      if (hasLeft) abort(new Aborted('the client has left'))
    },
  }
}

const LATE = `what the handler waits for has taken longer than ${LIMITS.signalTimeout / 1_000} s`
