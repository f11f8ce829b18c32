// Reads lists from MongoDB, page by page.
import type { Filter } from 'mongodb'
import { batched } from '../../chassis/index.ts'
import { PAGE_BYTES } from '../pages.ts'
import type { Filter as UserFilter, ListQuery, Page, UserStore } from '../user-store.ts'
import type { Execute } from './connection.ts'
import type { UserDocument, Users } from './collection.ts'
import { AS_BYTES, emailOf, fieldsOf, idOf, toObjectId, userOf, type Fields } from './documents.ts'

/** The most users in a page of a list: the largest `limit` of the contract. */
const MAX_PAGE_SIZE = 1_000

/** A batch this large may have been cut: MongoDB does so at 16 MB. */
const MAX_WHOLE_BYTES = 8_000_000

/** Implements `UserStore.list`. */
export function lister(execute: Execute): UserStore['list'] {
  let size = 1 // how many users to ask for in the next page of any list; grows while users are short

  async function readPage(query: ListQuery): Promise<Page> {
    const { limit: wanted = size, ...filter } = query
    const limit = Math.min(wanted, size)
    const documents = await execute((users) => findPage(users, filter, limit + 1)) // one more shows whether a user follows
    let bytes = documents.reduce((sum, { length }) => sum + length, 0)
    let isLast = documents.length <= limit && bytes < MAX_WHOLE_BYTES
    if (bytes > 0) {
      const fits = Math.floor((PAGE_BYTES * documents.length) / bytes) // as many of the same average length
      size = Math.max(1, Math.min(MAX_PAGE_SIZE, Math.max(size, 4 * limit), fits))
    }
    // Too few were asked for, and all that are wanted fit, or twice as many: asks again.
    if (limit < wanted && !isLast && size >= Math.min(wanted, 2 * limit)) return readPage(query)
    // What does not fit is read again, so that it is not in memory while the client reads this page.
    while (documents.length > limit || (bytes > PAGE_BYTES && documents.length > 1)) {
      bytes -= documents.pop()!.length
      isLast = false
    }
    const users = documents.map((document) => userOf(fieldsOf(document)))
    return { users, next: isLast ? undefined : users.at(-1)?.id }
  }

  // Two pages at a time, because a response can have 16 MB. In an outage, those that wait fail with the first.
  return batched(async ([query]: ListQuery[]) => [await readPage(query!)], {
    maxBatchSize: 1,
    concurrency: 2,
  })
}

/** Reads the first documents, with one response: fewer than `limit` if they have more than 16 MB. */
function findPage(users: Users, { after, ...rest }: UserFilter, limit: number): Promise<Buffer[]> {
  rest satisfies Record<string, never>
  const filter: Filter<UserDocument> = after ? { _id: { $gt: toObjectId(after) } } : {}
  const page = { limit, batchSize: limit, singleBatch: true } // without `batchSize`, a batch has 101
  return users.find<Buffer>(filter, { ...AS_BYTES, sort: { _id: 1 }, ...page }).toArray()
}

/** The documents of users whose `field` is one of `values`, by its value. @throws the driver's error */
export async function findFields(users: Users, field: 'id' | 'email', values: string[]) {
  const present = [...new Set(values)].filter((value) => value !== '') // an empty email is none
  if (present.length === 0) return new Map<string | undefined, Fields>()
  const keys = field === 'id' ? present.map(toObjectId) : present
  const oneOf = keys.length === 1 ? keys[0] : { $in: keys } // a single look-up with `$in` takes the driver a tenth more time
  const filter = { [field === 'id' ? '_id' : field]: oneOf }
  const options = { ...AS_BYTES, batchSize: present.length + 1 }
  const found = (await users.find<Buffer>(filter, options).toArray()).map(fieldsOf)
  return new Map(found.map((fields) => [field === 'id' ? idOf(fields) : emailOf(fields), fields]))
}
