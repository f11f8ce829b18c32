// Users as one JSON array, read element by element. Reading ends at the first element that is not JSON,
// because the place where the next one begins can only be guessed.
import { MAX_LENGTH, positionOf, type Line } from './lines.ts'
import { NOT_JSON, parseObject } from './ndjson.ts'

/** @throws Error the file is not one JSON array */
export async function* readJson(text: AsyncIterable<string>): AsyncGenerator<Iterable<Line>> {
  let isOpen = false as boolean // stays true after the end of the array, where `depth` is 0
  let depth = 0 // how many brackets are open; elements are at depth 1
  let element = ''
  let number = 1 // of the element
  let firstLine = 0 // of the element; 0 before it starts
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
        if (isEnd) yield* endElement(element + chunk.slice(from, at))
        else if (depth > 0) firstLine ||= line
        else openArray(char)
        if (isEnd || firstLine === 0) from = at + 1
        if (char === '"') isString = true
        if (char === '[' || char === '{') depth += 1
        if (char === ']' || char === '}') depth -= 1
        if (depth === 0 && char === '}') throw notJson()
      }
    }
    if (element.length <= MAX_LENGTH) element += chunk.slice(from)
  }

  function openArray(char: string): void {
    if (isOpen) throw new Error(`line ${line}: there is text after the JSON array`)
    if (char !== '[') throw new Error(NOT_AN_ARRAY)
    isOpen = true
  }

  function* endElement(text: string): Generator<Line> {
    const content = firstLine > 0 && parseObject(text)
    if (content === NOT_JSON) throw notJson()
    if (content) yield { line: firstLine, element: number, ...content }
    number += 1
    element = ''
    firstLine = 0
  }

  const position = () => positionOf({ line: firstLine, element: number })
  const notJson = () => new Error(`${position()}: ${NOT_JSON.reason}`)

  for await (const chunk of text) yield scan(chunk)
  if (!isOpen) throw new Error('the file is empty')
  const end = firstLine > 0 ? position() : `line ${line - 1}`
  if (depth > 0) throw new Error(`the JSON array does not end: see ${end}`)
}

const NOT_AN_ARRAY =
  'the file is not a JSON array: put its users in `[…]`, or give --format ndjson if each line is a user; ' +
  'an array in an object can be taken out, for example with jq .users FILE'
