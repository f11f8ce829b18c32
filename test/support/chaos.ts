// CHAOS=1, as `npm run chaos` sets it, makes the same tests long.
import { jest } from '@jest/globals'

const long = process.env['CHAOS'] !== undefined

/** How much of a thing to do: a little in every run, much in `npm run chaos`. */
export const times = (little: number, much: number): number => (long ? much : little)

if (long) jest.setTimeout(3_600_000)
