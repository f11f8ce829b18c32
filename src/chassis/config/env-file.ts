// Reads `.env` in the current folder. Unlike `dotenv.config`, refuses a file that cannot be read, and lines that it would
// ignore or cut.
import { lstatSync } from 'node:fs'
import { parse } from 'dotenv'
import { readTextFile } from '../files.ts'

/** The variables in `.env`; none if there is no such file. @throws Error it cannot be read, or has a wrong line */
export function readEnvFile(): NodeJS.Dict<string> {
  if (!isThere()) return {}
  const lines = readTextFile('.env', '.env').split(/\r\n?|\n/)
  const wrong = lines.map((line) => line.trim()).findIndex((line) => !LINE.test(line))
  if (wrong !== -1) throw new Error(`${RULE}: see line ${wrong + 1}`)
  const names = lines.map((line) => NAME.exec(line)?.[1])
  const twice = names.findIndex((name, i) => name && names.indexOf(name) < i)
  if (twice !== -1) throw new Error(`.env has ${names[twice]} twice: see line ${twice + 1}`)
  return parse(lines.join('\n'))
}

/** Also if it is a link to nothing, which cannot be read; not in a folder that this account may not search. */
function isThere(): boolean {
  try {
    lstatSync('.env')
    return true
  } catch {
    return false
  }
}

const RULE =
  '.env must have one NAME=value on each line, in UTF-8; put a value with # or a quote in (other) quotes'

const NAME = /^\s*(?:export\s+)?([\w.-]+)\s*=/

/** Empty, a comment, or a variable: its value is in quotes, or has neither quotes nor `#`; a comment may follow. */
const LINE = /^(#.*|(export\s+)?[\w.-]+\s*=(\s*"[^"]*"|\s*'[^']*'|[^"'`#]*)(\s#.*)?)?$/
