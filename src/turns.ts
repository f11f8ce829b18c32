// Turns of the event loop, between which other requests are served.
import { setImmediate as turn } from 'node:timers/promises'

/**
 * Waits for some turns, after a large piece of work. One turn would not be enough: libuv accepts only one
 * connection in each (https://github.com/libuv/libuv/pull/3696).
 */
export async function letOthersIn(): Promise<void> {
  for (let i = 0; i < 16; i += 1) await turn()
}
