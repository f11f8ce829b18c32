// The progress of a transfer: a line in a terminal, which the next line overwrites, and nothing elsewhere.
import type { WriteStream } from 'node:tty'

/** Shows the number of users. @returns a function that ends this */
export function startProgress(users: () => number, output: WriteStream = process.stderr) {
  if (!output.isTTY) return () => {}
  const show = () => output.write(`\x1b[K${users().toLocaleString('en')} users\r`)
  const timer = setInterval(show, 100).unref()
  return () => {
    clearInterval(timer)
    output.write('\x1b[K')
  }
}
