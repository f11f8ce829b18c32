// Drops what nobody reads of a request.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { letOthersIn } from '../turns.ts'
import { LIMITS } from './limits.ts'

/**
 * Reads and drops the rest of a body, for at most `LIMITS.linger`: a client that is still sending would not read its
 * response. One part at a time, because parsing a part in chunks of one byte takes long.
 *
 * @returns whether it has ended
 */
export async function drop(request: IncomingMessage): Promise<boolean> {
  const end = performance.now() + LIMITS.linger
  request.pause()
  while (!request.complete && !request.destroyed) {
    const left = end - performance.now()
    if (left <= 0) return false
    if (request.read() !== null) await letOthersIn()
    else
      await Promise.race([
        once(request, 'readable').catch(() => {}),
        sleep(left, undefined, { ref: false }),
      ])
  }
  return true
}
