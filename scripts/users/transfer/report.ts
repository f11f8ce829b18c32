// The report of an import: a file with a line for each line that was refused, is a duplicate or renamed a user.
import { randomUUID } from 'node:crypto'
import fs, { type Stats } from 'node:fs'
import { describeError, escapeControls, warn } from '../program.ts'

/**
 * @param given the file in `--report`, if any; it is kept even if it is empty
 * @param usual the file without `--report`; if it cannot be written, standard error. `-` means standard error
 * @param input the file that is imported
 * @param force whether `given` may be a file that is no report
 * @throws Error the report cannot be written to `given`
 */
export function openReport(given: string | undefined, usual: string, input: Stats, force = false) {
  const file = given ?? usual
  const partial = `${file}.${randomUUID()}.part`
  let isEmpty = true
  let fd: number | undefined
  try {
    if (file !== '-') fd = createFile(file, partial, input, force)
  } catch (error) {
    if (given !== undefined) throw error
    warn(`${describeError(error)}; what it would list is printed here`)
  }
  return {
    add: (position: string, what: string): void => {
      isEmpty = false
      if (fd === undefined) warn(`${position}: ${what}`)
      else fs.writeSync(fd, escapeControls(`${position}: ${what}\n`))
    },
    /** @returns where the report is, as the end of a sentence */
    close(): string {
      if (fd === undefined) return ''
      fs.closeSync(fd)
      if (isEmpty && given === undefined) fs.rmSync(partial)
      const path = fs.existsSync(file) ? partial : file // another import may have made one
      if (fs.existsSync(partial)) fs.renameSync(partial, path)
      return isEmpty ? '' : `; see ${path}`
    },
  }
}

/** Removes an earlier report, and opens a file that only its owner may read. Never follows a link. */
function createFile(file: string, partial: string, input: Stats, force: boolean): number {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  const isInput = stat?.ino === input.ino && stat.dev === input.dev
  const problem = 'it is the input, a link or not a file'
  if (isInput || stat?.isFile() === false) {
    throw new Error(`the report cannot be written to ${file}: ${problem}`)
  }
  if (stat && !force && !isReport(file)) {
    throw new Error(`${file} exists and is not a report of import-users: --force overwrites it`)
  }
  const fd = fs.openSync(partial, 'wx', 0o600)
  fs.rmSync(file, { force: true })
  return fd
}

/** Whether the file begins as a report does; an empty one has nothing to lose. */
function isReport(file: string): boolean {
  const fd = fs.openSync(file, 'r')
  const start = Buffer.alloc(64)
  const length = fs.readSync(fd, start)
  fs.closeSync(fd)
  return length === 0 || /^line \d+(, element \d+)?: /.test(start.toString('latin1'))
}
