// The progress of a transfer.
import { expect, jest, test } from '@jest/globals'
import type { WriteStream } from 'node:tty'
import { startProgress } from '../../../../scripts/users/transfer/progress.ts'

test('a line is shown in a terminal, and cleared in the end; elsewhere nothing is shown', () => {
  jest.useFakeTimers()
  const shown: string[] = []
  for (const isTTY of [true, false]) {
    const terminal = { isTTY, write: (text: string) => shown.push(text) > 0 } as WriteStream
    const stop = startProgress(() => 1_500, terminal)
    jest.advanceTimersByTime(150)
    stop()
  }
  jest.useRealTimers()
  expect(shown).toEqual(['\x1b[K1,500 users\r', '\x1b[K'])
})
