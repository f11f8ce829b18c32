// Changes to openapi.yaml.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { breakingChanges } from '../../scripts/breaking-changes.ts'

export type Any = any // eslint-disable-line -- a change can be anywhere

export const contract = (): Any =>
  parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'))

export const ID = '/users/{id}'

/** Moves what is at one key of `object` to another. */
export const rename = (object: Any, from: string, to: string) => {
  object[to] = object[from]
  delete object[from]
}

export type Change = (contract: Any, schemas: Any) => void

/** What is found when the contract changes. */
export async function breaks(change: Change): Promise<string[]> {
  const changed = contract()
  change(changed, changed.components.schemas)
  return breakingChanges(contract(), changed)
}
