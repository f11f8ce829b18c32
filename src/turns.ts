// Turns of the event loop, between which other requests are served.
import { setImmediate as turn } from 'node:timers/promises'

/**
 * Waits for some turns, after a large piece of work. One turn would not be enough: libuv accepts only one
 * connection in each (https://github.com/libuv/libuv/pull/3696).
 */
export async function letOthersIn(): Promise<void> {
  for (let i = 0; i < 16; i += 1) await turn()
}

/** Returns a function that does one piece of work at a time, so that other requests are served between them. */
export function oneByOne() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const answer = last.then(work)
    last = answer.then(letOthersIn, letOthersIn)
    return answer
  }
}
