// Files to read and to write, where `-` is standard input or output; and whose they would be.
import fs from 'node:fs'
import { Socket } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { renameNoReplace } from '../../src/chassis/programs.ts'

/** @throws Error the file cannot be read */
export function openInput(file: string): Readable {
  if (file === '-') return process.stdin
  const fd = fs.openSync(file, 'r')
  // A process cannot exit while a thread waits for the writer of a named pipe.
  if (fs.fstatSync(fd).isFIFO()) return new Socket({ fd, readable: true, writable: false })
  return fs.createReadStream(file, { fd, highWaterMark: 16 * 1024 })
}

/**
 * Makes a file that gets its name only when it is complete.
 *
 * @param write writes it under another name
 * @throws Error the file exists
 */
export async function makeFile<T>(file: string, write: (temporary: string) => Promise<T>) {
  if (fs.lstatSync(file, { throwIfNoEntry: false }))
    throw new Error(`${file} exists: give another file`)
  return withTemporary(file, async (temporary) => {
    const result = await write(temporary)
    renameNoReplace(temporary, file)
    return result
  })
}

/** Removes the temporary file, which is beside `file`, when `use` has ended. Only its owner can read it. */
export async function withTemporary<T>(file: string, use: (temporary: string) => Promise<T>) {
  const temporary = `${file}.${Date.now()}.part` // in containers, each process may be number 1
  fs.closeSync(fs.openSync(temporary, 'wx', 0o600))
  try {
    return await use(temporary)
  } finally {
    fs.rmSync(temporary, { force: true })
  }
}

/** @throws Error there is no such file, and the service could not open the one that this process would make */
export function checkPlace(file: string): void {
  if (!fs.existsSync(file)) checkFolder(dirname(resolve(file)))
}

/** @throws Error the account of the service, which owns the folder, could not open what this process makes there */
export function checkFolder(folder: string): undefined {
  const found = fs.statSync(folder, { throwIfNoEntry: false })
  if (!found) return checkFolder(dirname(folder))
  // A folder of root can be writable for others: /tmp, and a volume with `fsGroup`.
  if (![0, process.geteuid!()].includes(found.uid)) throw new Error(`${folder} ${ofAnother(found)}`)
}

export const ofAnother = ({ uid }: fs.Stats) =>
  `belongs to the uid ${uid}: run this as that account`
