// Users as JSON: the elements of an array, which may be the value of a key, as in `{"users":[…]}`. Reading ends at the
// first text that is not JSON, because the place where the next element begins can only be guessed.
import { Tokenizer, TokenParser, TokenType } from '@streamparser/json'
import { MAX_LENGTH, positionOf, TOO_LONG, type Line } from './lines.ts'
import { contentIn, NOT_JSON } from './ndjson.ts'

/** @throws Error the file is not JSON, or has no list of users */
export async function* readJson(text: AsyncIterable<string>): AsyncGenerator<Iterable<Line>> {
  let elements: ReturnType<typeof openElements> | undefined
  let line = 1

  function* scan(chunk: string): Generator<Line> {
    for (const part of chunk.split(/(?<=\n)/)) {
      if (part.trim() !== '') elements ??= openElements(part.trimStart()[0]!)
      if (elements) yield* elements.write(part, line)
      if (part.endsWith('\n')) line += 1
    }
  }

  for await (const chunk of text) yield scan(chunk)
  if (!elements) throw new Error('the file is empty')
  elements.end(line - 1)
}

/** The keys that a list of users may have. */
const LISTS = ['users', 'Users', 'data', 'Resources', 'results', 'items', 'records', 'value']

/** @param bracket the first character of the file */
function openElements(bracket: string) {
  if (bracket !== '[' && bracket !== '{') throw new Error(NO_LIST)
  const isInKey = bracket === '{'
  const paths = isInKey ? LISTS.map((key) => `$.${key}.*`) : ['$.*']
  const tokenizer = new Tokenizer()
  const parser = new TokenParser({ paths, keepStack: false })
  const depthOfElements = isInKey ? 2 : 1
  const what = isInKey ? 'object' : 'array'
  const found: Line[] = []
  let depth = 0 // how many brackets are open
  let line = 1
  let size = 0 // of what was read, in bytes
  let offset = 0 // of the last token
  let number = 1 // of the element
  let firstLine = 0 // of the element; 0 before it begins
  let start = 0 // its offset
  let list: unknown // the key of the first element's list

  tokenizer.onToken = (token) => {
    offset = token.offset
    if (CLOSING.has(token.token)) depth -= 1
    const isAfter = depth === depthOfElements && token.token === TokenType.COMMA
    if (isAfter) number += 1
    if (depth < depthOfElements) number = 1
    if (isAfter || depth < depthOfElements) firstLine = 0
    else if (firstLine === 0) {
      firstLine = line
      start = offset
    }
    if (OPENING.has(token.token)) depth += 1
    parser.write(token)
  }
  parser.onValue = ({ value, stack }) => {
    const key = stack[1]?.key
    list ??= key
    const isLong = offset - start > MAX_LENGTH
    const content = key === list ? contentIn(value) : { reason: `other users are in \`${list}\`` }
    found.push({ line: firstLine, element: number, ...(isLong ? TOO_LONG : content) })
  }

  const position = () => positionOf({ line: firstLine, element: number })
  const hasNoList = () => isInKey && list === undefined && parser.isEnded

  return {
    *write(part: string, lineOfPart: number): Generator<Line> {
      const bytes = Buffer.from(part)
      let isValid = true
      line = lineOfPart
      size += bytes.length
      try {
        tokenizer.write(bytes)
      } catch {
        isValid = false
      }
      yield* found.splice(0)
      if (!isValid && hasNoList()) throw new Error(NO_LIST)
      if (!isValid && parser.isEnded)
        throw new Error(`line ${line}: there is text after the JSON ${what}`)
      if (!isValid) throw new Error(`${position()}: ${NOT_JSON.reason}`)
      if (firstLine > 0 && size - start > MAX_PENDING)
        throw new Error(`${position()}: ${TOO_LONG.reason}`)
    },
    end(lastLine: number): void {
      if (hasNoList()) throw new Error(NO_LIST)
      const place = firstLine > 0 ? position() : `line ${lastLine}`
      if (!parser.isEnded) throw new Error(`the JSON ${what} does not end: see ${place}`)
    },
  }
}

const OPENING = new Set([TokenType.LEFT_BRACE, TokenType.LEFT_BRACKET])
const CLOSING = new Set([TokenType.RIGHT_BRACE, TokenType.RIGHT_BRACKET])

/** The most bytes of an element that are kept in memory, until it is known how long it is. */
const MAX_PENDING = 1.2 * MAX_LENGTH

const NO_LIST =
  'the file is not a JSON array: put its users in `[…]`, or give --format ndjson if each line is a user; ' +
  `an array may also be the value of one of the keys ${LISTS.join(', ')}`
