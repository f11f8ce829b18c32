// Users as one JSON array, read element by element. Reading ends at the first element that is not JSON,
// because the place where the next one begins can only be guessed.
import { LONGEST, placeOf, type Line } from './lines.ts'
import { NOT_JSON, parseObject } from './ndjson.ts'

/** @throws Error the file is not one JSON array */
export async function* readJson(text: AsyncIterable<string>): AsyncGenerator<Iterable<Line>> {
  let isOpen = false as boolean // stays true after the end of the array, where `depth` is 0
  let depth = 0 // how many brackets are open; elements are at depth 1
  let element = ''
  let count = 1 // the number of the element
  let begin = 0 // the line of the element
  let line = 1
  let isString = false
  let isEscaped = false

  function* scan(chunk: string): Generator<Line> {
    let from = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const char = chunk[at]!
      if (char === '\n') line += 1
      if (isString) {
        if (char === '\n') throw notJson() // RFC 8259 §7
        if (char === '"' && !isEscaped) isString = false
        isEscaped = char === '\\' && !isEscaped
      } else if (char > ' ') {
        const isEnd = depth === 1 && (char === ',' || char === ']')
        if (isEnd) yield* take(element + chunk.slice(from, at))
        else if (depth > 0) begin ||= line
        else start(char)
        if (isEnd || begin === 0) from = at + 1
        if (char === '"') isString = true
        if (char === '[' || char === '{') depth += 1
        if (char === ']' || char === '}') depth -= 1
        if (depth === 0 && char === '}') throw notJson()
      }
    }
    if (element.length <= LONGEST) element += chunk.slice(from)
  }

  function start(char: string): void {
    if (isOpen) throw new Error(`line ${line}: there is text after the JSON array`)
    if (char !== '[') throw new Error(NO_ARRAY)
    isOpen = true
  }

  function* take(text: string): Generator<Line> {
    const content = begin > 0 && parseObject(text)
    if (content === NOT_JSON) throw notJson()
    if (content) yield { line: begin, element: count, ...content }
    count += 1
    element = ''
    begin = 0
  }

  const place = () => placeOf({ line: begin, element: count })
  const notJson = () => new Error(`${place()}: ${NOT_JSON.reason}`)

  for await (const chunk of text) yield scan(chunk)
  if (!isOpen) throw new Error('the file is empty')
  const end = begin > 0 ? place() : `line ${line - 1}`
  if (depth > 0) throw new Error(`the JSON array does not end: see ${end}`)
}

const NO_ARRAY =
  'the file is not a JSON array: put its users in `[…]`, or give --format ndjson if each line is a user'
