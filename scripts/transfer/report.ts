// A file that tells of lines what became of them; there is none if there is nothing to tell. Where it
// cannot be written, standard error tells.
import { closeSync, openSync, rmSync, statSync, writeFileSync, type Stats } from 'node:fs'

/** How many UTF-16 code units are kept before they are written. */
const KEPT = 64_000

export interface Report {
  tell: (line: number, reason: string) => void
  /** @returns where it is, as the end of a sentence */
  close(): string
}

/**
 * @param asked the file that was asked for, if one was: it is written over, and kept though it be empty
 * @param own the file otherwise, which is nobody else's; - for standard error
 * @param input what is read, which must be another file
 * @throws Error `asked` cannot be written, or is what is read
 */
export function openReport(asked: string | undefined, own: string, input: Stats): Report {
  const file = asked ?? own
  let fd: number | undefined
  let kept = ''
  let isEmpty = true
  let isLost = file === '-'

  const open = () => openSync(file, 'w')

  function write(): void {
    try {
      fd ??= open()
      writeFileSync(fd, kept)
    } catch (error) {
      isLost = true
      process.stderr.write(`the report goes on here: ${(error as Error).message}\n${kept}`)
    }
    kept = ''
  }

  const there = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false })
  if (there?.ino === input.ino && there.dev === input.dev) {
    throw new Error(`the report must not be ${file}, which is read`)
  }
  if (asked !== undefined && asked !== '-') fd = open()
  return {
    tell(line, reason) {
      if (isLost) return console.error(`line ${line}: ${reason}`)
      isEmpty = false
      kept += `line ${line}: ${reason}\n`
      if (kept.length > KEPT) write()
    },
    close() {
      if (kept !== '') write()
      if (fd !== undefined) closeSync(fd)
      if (asked === undefined && isEmpty && there?.isFile()) rmSync(file) // of a former run
      return isEmpty || fd === undefined ? '' : `; see ${file}`
    },
  }
}
