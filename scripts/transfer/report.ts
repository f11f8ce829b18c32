// The report of an import: a file with a line for each line that was refused.
import { closeSync, lstatSync, openSync, rmSync, writeSync, type Stats } from 'node:fs'
import { describeError, escapeControls, warn } from '../program.ts'

/**
 * @param given the file in `--report`, if any; it is kept even if it is empty
 * @param fallback the file without `--report`; if it cannot be written, standard error. `-` means standard error
 * @param input the file that is imported
 * @throws Error the report cannot be written to `given`
 */
export function openReport(given: string | undefined, fallback: string, input: Stats) {
  const file = given ?? fallback
  let isEmpty = true
  let fd: number | undefined
  try {
    if (file !== '-') fd = createFile(file, input)
  } catch (error) {
    if (given !== undefined) throw error
    warn(`${describeError(error)}; refused lines are printed here`)
  }
  return {
    refuse: (position: string, reason: string): void => {
      isEmpty = false
      if (fd === undefined) warn(`${position}: ${reason}`)
      else writeSync(fd, escapeControls(`${position}: ${reason}\n`))
    },
    /** @returns where the report is, as the end of a sentence */
    close(): string {
      if (fd === undefined) return ''
      closeSync(fd)
      if (isEmpty && given === undefined) rmSync(file)
      return isEmpty ? '' : `; see ${file}`
    },
  }
}

/** Opens a file that only its owner may read. Replaces an earlier report, but never follows a link. */
function createFile(file: string, input: Stats): number {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  const isInput = stat?.ino === input.ino && stat.dev === input.dev
  const problem = 'it is the input, a link or not a file'
  if (isInput || stat?.isFile() === false) {
    throw new Error(`the report cannot be written to ${file}: ${problem}`)
  }
  rmSync(file, { force: true })
  return openSync(file, 'wx', 0o600)
}
