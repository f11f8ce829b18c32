// A file that tells of lines what became of them. There is none if there is nothing to tell.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'

/** How many UTF-16 code units are kept before they are written. */
const KEPT = 64_000

export interface Report {
  tell: (line: number, reason: string) => void
  /** @returns where it is, as the end of a sentence */
  close(): string
}

/** @param file `-` for standard error @throws Error it cannot be written there */
export function openReport(file: string): Report {
  if (file === '-') {
    return { tell: (line, reason) => console.error(`line ${line}: ${reason}`), close: () => '' }
  }
  const fd = openSync(file, 'w')
  let kept = ''
  let isEmpty = true
  const write = () => {
    if (kept !== '') writeSync(fd, kept)
    kept = ''
  }
  return {
    tell(line, reason) {
      isEmpty = false
      kept += `line ${line}: ${reason}\n`
      if (kept.length > KEPT) write()
    },
    close() {
      write()
      closeSync(fd)
      if (isEmpty) rmSync(file)
      return isEmpty ? '' : `; see ${file}`
    },
  }
}
