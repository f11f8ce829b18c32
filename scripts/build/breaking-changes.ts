// Finds the changes to a contract that break a client made for the released one. A change counts as
// breaking unless it is known to be harmless, so a keyword that is not mentioned here may not change.
// Not covered: what only a description says, and an additional success status.

import { dereference } from '../../src/chassis/programs.ts'

/** An OpenAPI document, parsed. No schema may refer to itself. */
export interface OpenApi {
  info: { version: string }
  [key: string]: unknown
}

type Any = any // eslint-disable-line -- whatever a document has at a place

/** @returns a description of each change that breaks a client, with its place */
export const breakingChanges = (released: OpenApi, current: OpenApi): string[] =>
  compare('', resolve(released), resolve(current))

/** A contract without documentation: what of a released one is kept. */
export function withoutDocumentation<T>(part: T, at = ''): T {
  if (!part || typeof part !== 'object') return part
  if (Array.isArray(part)) return part.map((item) => withoutDocumentation(item, `${at} item`)) as T
  const isKept = (key: string) =>
    HAS_NAMES.test(at) || key === 'x-extensible-enum' || !DOCUMENTATION.test(key)
  const kept = Object.entries(part).filter(([key]) => isKept(key))
  return Object.fromEntries(
    kept.map(([key, value]) => [key, withoutDocumentation(value, `${at} ${key}`.trim())]),
  ) as T
}

function compare(at: string, before: Any, now: Any): string[] {
  return Object.keys({ ...before, ...now }).flatMap((key) => {
    const was = before?.[key]
    const is = now?.[key]
    const place = `${at} ${key}`.trim()
    if (was === is || isHarmless(at, key, was, is) || isAccepted(key, before, now)) return []
    const areObjects = typeof was === 'object' && typeof is === 'object'
    if (areObjects || HAS_NAMES.test(place)) return compare(place, was, is)
    if (was === undefined) return [`${place}: is new`]
    if (is === undefined) return [`${place}: is gone`]
    return [`${place}: was ${JSON.stringify(was)} and is ${JSON.stringify(is)}`]
  })
}

/** Whether a schema now says of `key` what was also accepted; or, when `x-also-accepts` goes, of all in it. */
function isAccepted(key: string, before: Any, now: Any): boolean {
  const accepted = before?.['x-also-accepts'] ?? {}
  const keys = key === 'x-also-accepts' && !now?.[key] ? Object.keys(accepted) : [key]
  return keys.every((one) => accepted[one] && `${accepted[one]}` === `${now?.[one]}`)
}

/** @param at the place of `key`, which had the value `was` and has the value `is` */
function isHarmless(at: string, key: string, was: Any, is: Any): boolean {
  if (key === 'Cache-Control') return true // no client made from the contract uses it
  const isRequest = /^paths \S+( \S+)? (parameters|requestBody)/.test(at)
  if (/^components (?!securitySchemes|schemas)/.test(at)) return true // compared where it is used
  if (at === 'components schemas') return is !== undefined
  if (HAS_NAMES.test(at) || is?.operationId)
    return was === undefined && !(isRequest && is.required === true)
  if (key === 'x-extensible-enum') return includesAll(is, was) // programs decide by its values
  if (DOCUMENTATION.test(key)) return true
  if (key === 'additionalProperties' && !isRequest) return true // clients ignore fields that they do not know
  if (key === 'security') return is?.length === 0
  if (at.includes(' x-also-accepts')) return false
  if (key === 'required') return isRequest ? includesAll(was, is) : includesAll(is, was)
  if (key === 'x-also-accepts') return was === undefined
  const isLooser = key.startsWith('min') ? is < was : key.startsWith('max') && is > was
  const isLimit = /^(min|max|pattern$|format$)/.test(key)
  return isRequest && isLimit && (is === undefined || isLooser)
}

/** Places where a new name breaks no client, unless it is that of a required parameter. */
const HAS_NAMES =
  /^paths$|^components( \S+)?$|(?<! properties) (responses|headers|content|parameters|properties)$/

const DOCUMENTATION =
  /^(openapi|info|externalDocs|description|summary|title|examples?|deprecated|tags|x-(?!also-accepts).*)$/

/** Whether every item of `few` is among `many`; a flag is an item if it is true. */
const includesAll = (many: Any, few: Any) =>
  [few || []].flat().every((item: unknown) => [many].flat().includes(item))

/** The document with references replaced by what they point to, and parameters by their names. */
function resolve(document: OpenApi): Any {
  const named = (parameters: Any[]) =>
    Object.fromEntries(parameters.map((one) => [`${one.in} ${one.name}`, one]))
  const text = JSON.stringify(dereference(document))
  return JSON.parse(text, (_, node) => (node?.[0]?.in ? named(node) : node))
}
