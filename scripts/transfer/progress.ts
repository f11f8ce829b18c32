// How far a transfer is: a bar in a terminal, elsewhere a plain line every few seconds.
import type { WriteStream } from 'node:tty'

/** How often, in milliseconds, in a terminal and elsewhere. */
const INTERVAL = { terminal: 100, elsewhere: 5_000 }

/**
 * Tells how far it is until it is stopped.
 *
 * @param state users so far, and the part of all that is done, 0 to 1, where it is known
 */
export function startProgress(
  state: () => { users: number; part?: number | undefined },
  output: WriteStream = process.stderr,
): { stop(): void } {
  const began = performance.now()
  const show = () => {
    const line = progressLine(state(), (performance.now() - began) / 1000)
    output.write(
      output.isTTY ? `\r\x1b[K${line.slice(0, (output.columns || 80) - 1)}` : `${line}\n`,
    )
  }
  const timer = setInterval(show, output.isTTY ? INTERVAL.terminal : INTERVAL.elsewhere)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      if (output.isTTY) output.write('\r\x1b[K')
    },
  }
}

/** @param seconds since it began */
export function progressLine(
  { users, part }: { users: number; part?: number | undefined },
  seconds: number,
): string {
  const done = `${users.toLocaleString('en')} users  ${perSecond(users, seconds)}`
  if (part === undefined) return done
  const bar = '#'.repeat(Math.round(part * 20)).padEnd(20)
  const left = part > 0 ? `  ${Math.ceil((seconds / part) * (1 - part))} s left` : ''
  return `[${bar}] ${Math.floor(part * 100)} %  ${done}${left}`
}

export const perSecond = (users: number, seconds: number): string =>
  `${Math.round(users / Math.max(seconds, 0.001)).toLocaleString('en')} users/s`
