// The progress of a transfer: in a terminal a bar, otherwise a line every few seconds.
import type { WriteStream } from 'node:tty'

/** How many users are done, and which part of the whole that is, from 0 to 1, if it is known. */
type State = { users: number; part?: number | undefined }

/** Shows the progress until it is stopped. */
export function startProgress(
  state: () => State,
  output: WriteStream = process.stderr,
): { stop(): void } {
  const began = performance.now()
  const show = () => {
    const line = progressLine(state(), (performance.now() - began) / 1000)
    const shown = line.slice(0, (output.columns || 80) - 1)
    output.write(output.isTTY ? CLEAR + shown : `${line}\n`)
  }
  const timer = setInterval(show, output.isTTY ? 100 : 5_000)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      if (output.isTTY) output.write(CLEAR)
    },
  }
}

const CLEAR = '\r\x1b[K'

/** @param seconds since it began */
export function progressLine({ users, part }: State, seconds: number): string {
  const done = `${users.toLocaleString('en')} users  ${perSecond(users, seconds)}`
  if (part === undefined) return done
  const bar = '#'.repeat(Math.round(part * 20)).padEnd(20)
  const left = part > 0 ? `  ${Math.ceil((seconds / part) * (1 - part))} s left` : ''
  return `[${bar}] ${Math.floor(part * 100)} %  ${done}${left}`
}

export const perSecond = (users: number, seconds: number): string =>
  `${Math.round(users / Math.max(seconds, 0.001)).toLocaleString('en')} users/s`
