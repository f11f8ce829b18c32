// The small files that people name, such as `.env` and secrets.
import fs from 'node:fs'

/** @param name what names the file in the error @throws Error it cannot be read, or is not a regular file, or not UTF-8 */
export function readTextFile(file: string, name: string): string {
  try {
    if (!fs.statSync(file).isFile()) throw new Error('it is not a regular file') // a FIFO could wait for ever
    return new TextDecoder('utf-8', { fatal: true }).decode(fs.readFileSync(file))
  } catch (error) {
    throw new Error(`${name} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
