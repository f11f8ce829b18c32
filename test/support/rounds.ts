// How much a test does: a little in X.test.ts, much more in X.long.ts, which imports the same tests.
import { expect, jest } from '@jest/globals'

const isLong = expect.getState().testPath?.endsWith('.long.ts') ?? false
if (isLong) jest.setTimeout(600_000)

export const rounds = (few: number, many: number): number => (isLong ? many : few)
