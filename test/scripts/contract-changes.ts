// Changes to openapi.yaml, written as text.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { breakingChanges } from '../../scripts/breaking-changes.ts'

type Any = any // eslint-disable-line -- a change can be anywhere

const openapi = parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'))
export const contract = (): Any => structuredClone(openapi)

/** The rows of a table: a line each, with `|` between the cells. */
export const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(' | ').map((cell) => cell.trim()) as [string, string, string])

/**
 * Changes `document`. Between keys there are spaces: `a b = 1` sets, `a b += 1` appends, `a b -> c` renames
 * and `a b -` deletes. `;` separates changes; `schemas` is `components schemas`.
 */
export function change(document: Any, changes: string): Any {
  for (const one of changes.split('; ')) {
    const [, path, operator, value] = /^(.*?) (=|\+=|->|-)(?: (.*))?$/.exec(one)!
    const keys = path!.replace(/^schemas/, 'components schemas').split(' ')
    const last = keys.pop()!
    const parent = keys.reduce((node, key) => node[key], document)
    if (operator === '=') parent[last] = parse(value!)
    if (operator === '+=') parent[last].push(parse(value!))
    if (operator === '->') parent[value!] = parent[last]
    if (operator!.startsWith('-')) delete parent[last]
  }
  return document
}

/** What breaks a client when the contract changes like this. */
export const breaks = (changes: string): string[] =>
  breakingChanges(contract(), change(contract(), changes))
