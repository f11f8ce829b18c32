// The small files that people name, such as `.env` and secrets.
import fs from 'node:fs'

/** @throws Error it is not a regular file, or not UTF-8 */
export function readTextFile(file: string): string {
  if (!fs.statSync(file).isFile()) throw new Error('it is not a regular file') // a FIFO could wait for ever
  return new TextDecoder('utf-8', { fatal: true }).decode(fs.readFileSync(file))
}
