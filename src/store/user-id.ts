// Makes and recognises user ids.
import { randomBytes } from 'node:crypto'

/** Whether `text` has the form of a user id. */
export const isUserId = (text: string): boolean => /^[0-9a-f]{24}$/.test(text)

/** When the user with this id was created, to the second; null without an id. */
export const createdAt = (id: string | undefined): Date | null =>
  id ? new Date(Number.parseInt(id.slice(0, 8), 16) * 1000) : null

const TICKS = 65.536 // in a millisecond: 48 bits hold seconds and a 16-bit fraction of one
const randomValue = randomBytes(6).toString('hex') // of this process
let last = 0

/** Makes new ids sort after `id`, which is before LAST_ID, also if the clock was set back since it was made. */
export function continueAfter(id: string): void {
  last = Math.max(last, Number.parseInt(id.slice(0, 12), 16))
}

/** Ids begin with seconds in 32 bits, which end on 2106-02-07. Those of its last 18 hours are not continued: too few are left. */
export const LAST_ID = 'ffff'

/**
 * A new id: 24 lower-case hexadecimal digits, for MongoDB an ObjectId. It sorts after all earlier ids of this
 * process.
 *
 * An ObjectId starts with the second of its creation; within a second, it sorts by the process
 * that made it. Here the next two bytes are the fraction of the second and the other six identify
 * the process, so that the ids of several processes also sort by creation.
 * https://www.mongodb.com/docs/manual/reference/bson-types/#objectid
 */
export function newUserId(): string {
  last = Math.max(Math.floor(Date.now() * TICKS), last + 1)
  return last.toString(16).padStart(12, '0') + randomValue
}
