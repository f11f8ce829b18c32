// The progress of a transfer.
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import type { WriteStream } from 'node:tty'
import { progressLine, startProgress } from '../../../../scripts/users/transfer/progress.ts'

test('progress shows how much is done, the rate and the time left, where they are known', () => {
  const line = '[#####               ] 25 %  1,500,000 users  150,000 users/s  30 s left'
  expect(progressLine({ users: 1_500_000, fraction: 0.25 }, 10)).toBe(line)
  expect(progressLine({ users: 20 }, 10)).toBe('20 users  2 users/s')
})

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

function shownOn(terminal: { isTTY?: boolean; columns?: number }, milliseconds: number): string[] {
  const shown: string[] = []
  const write = (text: string) => shown.push(text) > 0
  const output = { ...terminal, write } as WriteStream
  const progress = startProgress(() => ({ users: 1_500, fraction: 0.25 }), output)
  jest.advanceTimersByTime(milliseconds)
  progress.stop()
  return shown
}

test('a terminal shows one line, no wider than itself, and clears it in the end', () => {
  const line = '\r\x1b[K[#####               ] 25 %  '
  expect(shownOn({ isTTY: true, columns: 30 }, 250)).toEqual([line, line, '\r\x1b[K'])
  expect(shownOn({ isTTY: true, columns: 0 }, 150)[0]).toMatch(/ 1 s left$/) // an unknown width
})

test('elsewhere there is a line every five seconds', () => {
  const line = '[#####               ] 25 %  1,500 users  300 users/s  15 s left\n'
  expect(shownOn({}, 5_500)).toEqual([line])
})
