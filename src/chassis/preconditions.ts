// ETags and conditional requests (RFC 9110 §8.8.3 and §13.1). Does not use a store.
import { hash } from 'node:crypto'
import { HttpError } from './http/http-error.ts'

/** A strong validator: it changes with every byte of the JSON body. */
export const etagOf = (body: object): string =>
  `"${hash('sha256', JSON.stringify(body), 'base64url')}"`

/** Whether `If-Match` names `etag`: by strong comparison, in which a weak ETag equals no other (§8.8.3.2). */
export const ifMatch = (field: string, etag: string): boolean =>
  field === '*' || tagsIn(field).includes(etag)

/** The error when a precondition fails. @param ifMatch says why, if it has a weak ETag */
export const preconditionFailed = (ifMatch = '*') =>
  isWeak(ifMatch)
    ? new HttpError(412, 'etag_weak', WEAK_IF_MATCH)
    : new HttpError(412, 'precondition_failed', FAILED)

const FAILED = 'the precondition in If-Match or If-None-Match failed'
const WEAK_IF_MATCH =
  'If-Match never matches a weak ETag (`W/`): turn off compression in the proxy that made it weak'

/** Whether `If-Match` has a weak ETag, as some proxies make of a strong one when they compress the response. */
const isWeak = (field: string): boolean => tagsIn(field).some((tag) => tag.startsWith('W/'))

/** Whether `If-None-Match`, if there is one, names `etag`: by weak comparison. */
export const ifNoneMatch = (field: string | undefined, etag: string): boolean =>
  field !== undefined && (ifMatch(field, etag) || ifMatch(field, `W/${etag}`))

/** An entity-tag (§8.8.3) and the commas and spaces before it, one element of a list (§5.6.1). */
const TAG = /[ \t,]*((?:W\/)?"[!#-~\x80-\xff]*")[ \t]*(?=,|$)/gy

/** The entity-tags of a list; none if the list is malformed. */
function tagsIn(field: string): string[] {
  const matches = [...field.matchAll(TAG)]
  const end = matches.reduce((at, [text]) => at + text.length, 0)
  return /^[ \t,]*$/.test(field.slice(end)) ? matches.map(([, tag = '']) => tag) : []
}
