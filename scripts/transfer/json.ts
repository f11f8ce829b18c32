// Users as one JSON array, element by element.
import type { User } from '../../src/store/user-store.ts'
import { readRecords, type Find, type Line } from './line.ts'
import { NOT_JSON, parseObject } from './ndjson.ts'

/** @throws Error there is no array, or not just one */
export async function* readJson(text: AsyncIterable<string>): AsyncGenerator<Line[]> {
  let state = 'before' as 'before' | 'in' | 'after'
  let gap = '' // what stands between two elements
  let isBroken = false // an element, whose brackets may have ended the array too soon
  const find: Find = (text, at, isLast) => {
    const start = skip(text, at)
    gap += text.slice(at, start)
    if (start > at) return { end: start } // so that the line of what follows is known
    if (state === 'after' && !isBroken) throw new Error('there is something behind the JSON array')
    if (state === 'after' || (state === 'in' && text[at] !== ']')) {
      const found = findElement(text, at, isLast, nextBehind(gap))
      if (found) gap = ''
      if (found) state = 'in'
      isBroken ||= found?.content !== undefined && 'reason' in found.content
      return found
    }
    if (state === 'before' && text[at] !== '[') throw new Error('the file is no JSON array')
    state = state === 'in' ? 'after' : 'in'
    gap = ''
    return { end: at + 1 }
  }
  yield* readRecords(text, find, /\}\s*,\s*(?=\{)|\n/)
  if (state === 'before') throw new Error('the file is empty')
  if (state === 'in') throw new Error('the JSON array does not end')
}

/**
 * What stands between an element, before which is `gap`, and the next. If it has a line of its own, that
 * is a line no deeper than this, so that objects within the element are not taken for elements.
 */
function nextBehind(gap: string): RegExp {
  const indent = /\n([^\S\n]*)\S*\s*$/.exec(gap)?.[1]
  if (indent === undefined) return /\}\s*,\s*(?=\{)|\n\s*,?\s*(?=[{\]])/
  return new RegExp(`\\n[^\\S\\n]{0,${indent.length}},?[^\\S\\n]?(?=[{\\]])`)
}

/** An element; of one that is broken, as much as stands before the next one. */
function findElement(text: string, at: number, isLast: boolean, between: RegExp): ReturnType<Find> {
  const end = endOfValue(text, at)
  if (typeof end === 'number') return { end, content: parseObject(text.slice(at, end)) }
  if (end === undefined && !isLast) return undefined
  const behind = text.slice(at, end?.next)
  const next = between.exec(behind)
  if (next) return { end: at + next.index + next[0].length, content: NOT_JSON }
  const isKnown = end?.next !== undefined || isLast
  return isKnown ? { end: at + behind.length, content: NOT_JSON } : undefined
}

/** Where something other than white space and commas is, at `from` or behind it. */
function skip(text: string, from: number): number {
  SEPARATORS.lastIndex = from
  SEPARATORS.test(text)
  return SEPARATORS.lastIndex
}
const SEPARATORS = /[\s,]*/y

/** That there is no value; where the next one begins, if that is known. */
interface Broken {
  next?: number
}

/** Where the JSON value at `from` ends, if it does. */
function endOfValue(text: string, from: number): number | Broken | undefined {
  const open: string[] = []
  let before = ''
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]!
    if (char === '"') {
      if (before === '"') return {}
      const end = endOfString(text, at)
      if (typeof end !== 'number') return end
      at = end - 1
    } else if (char === '{' || char === '[') {
      if (char === '{' && open.at(-1) === '}' && (before === ',' || before === '{'))
        return { next: at }
      open.push(char === '{' ? '}' : ']')
    } else if (char === '}' || char === ']') {
      if (open.length === 0) return at > from ? at : at + 1
      if (open.pop() !== char) return {}
      if (open.length === 0) return at + 1
    } else if (char === ',' && open.length === 0) {
      return at
    } else if (before === '"' && /[^\s,:]/.test(char)) {
      return {} // behind a string: that has ended where it should have begun
    }
    if (!/\s/.test(char)) before = char
  }
  return undefined
}

/** Where the string at `start` ends, in which there is no line feed (RFC 8259 §7). */
function endOfString(text: string, start: number): number | Broken | undefined {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text[at - 1 - escapes] === '\\') escapes += 1
    if (escapes % 2 === 0) return text.slice(start, at).includes('\n') ? {} : at + 1
  }
  return text.includes('\n', start) ? {} : undefined
}

/** Elements of an array, a line each. */
export const jsonLines = (users: User[]): string =>
  users.map((user) => JSON.stringify(user)).join(',\n')
