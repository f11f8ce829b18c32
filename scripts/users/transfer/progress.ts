// The progress of a transfer: in a terminal a bar, otherwise a line every few seconds.
import type { WriteStream } from 'node:tty'

/** How many users are done, and which fraction of the file that is, from 0 to 1, if it is known. */
type State = { users: number; fraction?: number | undefined }

/** Shows the progress until it is stopped. */
export function startProgress(state: () => State, output: WriteStream = process.stderr) {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  const show = () => {
    const line = progressLine(state(), seconds())
    const shown = line.slice(0, (output.columns || 80) - 1)
    output.write(output.isTTY ? CLEAR + shown : `${line}\n`)
  }
  const timer = setInterval(show, output.isTTY ? 100 : 5_000)
  timer.unref()
  return {
    stop(): void {
      clearInterval(timer)
      if (output.isTTY) output.write(CLEAR)
    },
    /** Such as `2.5 s, 40 users/s`. */
    rate: (): string => `${seconds().toFixed(1)} s, ${rate(state().users, seconds())}`,
  }
}

const CLEAR = '\r\x1b[K'

/** @param seconds since the start */
export function progressLine({ users, fraction }: State, seconds: number): string {
  const done = `${users.toLocaleString('en')} users  ${rate(users, seconds)}`
  if (fraction === undefined) return done
  const bar = '#'.repeat(Math.round(fraction * 20)).padEnd(20)
  const remaining = (seconds / fraction) * (1 - fraction)
  const left = fraction > 0 ? `  ${Math.ceil(remaining)} s left` : ''
  return `[${bar}] ${Math.floor(fraction * 100)} %  ${done}${left}`
}

const rate = (users: number, seconds: number): string =>
  `${Math.round(users / Math.max(seconds, 0.001)).toLocaleString('en')} users/s`
