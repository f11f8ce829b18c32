// The report of an import: a file with a line for each line that was refused.
import { closeSync, lstatSync, openSync, rmSync, writeSync, type Stats } from 'node:fs'
import { printable, sentenceOf, warn } from '../program.ts'

/**
 * @param asked the file in `--report`, if any; it is kept even if it is empty
 * @param usual the file without `--report`; if it cannot be written, standard error. `-` means standard error
 * @param input the file that is imported
 * @throws Error the report cannot be written to `asked`
 */
export function openReport(asked: string | undefined, usual: string, input: Stats) {
  const file = asked ?? usual
  let isEmpty = true
  let fd: number | undefined
  try {
    if (file !== '-') fd = openNew(file, input)
  } catch (error) {
    if (asked !== undefined) throw error
    warn(`${sentenceOf(error)}; refused lines are printed here`)
  }
  return {
    refuse: (place: string, reason: string): void => {
      isEmpty = false
      if (fd === undefined) warn(`${place}: ${reason}`)
      else writeSync(fd, printable(`${place}: ${reason}\n`))
    },
    /** @returns where the report is, as the end of a sentence */
    close(): string {
      if (fd === undefined) return ''
      closeSync(fd)
      if (isEmpty && asked === undefined) rmSync(file)
      return isEmpty ? '' : `; see ${file}`
    },
  }
}

/** Opens a file that only its owner may read. Replaces an earlier report, but never follows a link. */
function openNew(file: string, input: Stats): number {
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there && (!there.isFile() || (there.ino === input.ino && there.dev === input.dev))) {
    throw new Error(
      `the report cannot be written to ${file}: it is the input, a link or not a file`,
    )
  }
  rmSync(file, { force: true })
  return openSync(file, 'wx', 0o600)
}
