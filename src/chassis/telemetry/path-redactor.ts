// What the log and the traces may show of a path.
import { rawPath } from '../http/target.ts'

/**
 * Returns a function that returns what may be shown of a URL: its path, if an operation has it and its parameters are of
 * plain characters, because others may be personal data; of any other path, the segments that paths of operations have.
 *
 * @param operations their paths, such as `/notes/{id}`
 * @param basePath what all paths begin with
 * @param redact removes more, as the service knows it
 */
export function pathRedactor(
  operations: string[],
  basePath = '',
  redact = (path: string) => path,
): (url: string) => string {
  const templates = operations.map((path) => basePath + path)
  const patterns = templates.map((path) =>
    path.replaceAll(/\{\w+\}|\W/g, (part) => (part.length > 1 ? PLAIN : `\\${part}`)),
  )
  const isKnown = new RegExp(`^(${patterns.join('|')})$`)
  const words = new Set(DOCS.concat(templates.flatMap((path) => path.split('/'))))
  const shown = (segment: string) => (words.has(segment) ? segment : '…')
  return (url) => {
    const path = rawPath(url).slice(0, MAX_PATH_LENGTH)
    try {
      return redact(isKnown.test(path) ? path : path.split('/').map(shown).join('/'))
    } catch {
      return '…' // a line without its path is better than none
    }
  }
}

const MAX_PATH_LENGTH = 500 // Docker splits a line of 16 KiB
const PLAIN = String.raw`[\w.~-]+` // an address has `@`, or `%` if it is encoded

/** The segments of what docs/reference.ts serves. */
const DOCS = 'docs page.css page.js openapi-explorer.js openapi.yaml openapi.json'.split(' ')
