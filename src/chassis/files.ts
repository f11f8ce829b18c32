// The small files that people name, such as `.env` and secrets; folders; a rename that overwrites nothing.
import fs from 'node:fs'
import { dirname, resolve } from 'node:path'

/** @param name what names the file in the error @throws Error it cannot be read, or is not a regular file, or not UTF-8 */
export function readTextFile(file: string, name: string): string {
  try {
    if (!fs.statSync(file).isFile()) throw new Error('it is not a regular file') // a FIFO could wait for ever
    return new TextDecoder('utf-8', { fatal: true }).decode(fs.readFileSync(file))
  } catch (error) {
    throw new Error(`${name} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Makes a folder and those above it, if they do not exist. Only their owner can use them. Without the option `recursive`
 * of `mkdirSync`: on /proc/x, Node 20 and 24 would try forever.
 */
export function makeFolder(folder: string): void {
  const path = resolve(folder)
  if (fs.existsSync(path)) return
  makeFolder(dirname(path))
  try {
    fs.mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!fs.existsSync(path)) throw error // otherwise another process has just made it
  }
}

/**
 * Renames a file to a name that no file has: of several processes at once, only the first succeeds. On a file system
 * without hard links that is not promised: it looks first, so a file made between the look and the rename is lost.
 *
 * @throws Error with the code EEXIST if a file has the name
 */
export function renameNoReplace(from: string, to: string): void {
  if (tryLink(from, to)) return fs.rmSync(from)
  if (!fs.lstatSync(to, { throwIfNoEntry: false })) return fs.renameSync(from, to)
  throw Object.assign(new Error(`EEXIST: file already exists, rename '${to}'`), { code: 'EEXIST' })
}

/** Gives a file a second name. @returns false if the file system has no hard links @throws Error a file has the name */
export function tryLink(file: string, name: string): boolean {
  try {
    fs.linkSync(file, name)
    return true
  } catch (error) {
    if (NO_LINKS.includes((error as NodeJS.ErrnoException).code!)) return false
    throw error
  }
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']
