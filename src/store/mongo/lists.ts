// Reads lists from MongoDB page by page. One cursor serves all pages of a list, so that the server looks for its
// users only once.
import type { Filter, MongoClient, MongoServerError } from 'mongodb'
import { letOthersIn } from '../../turns.ts'
import { atMost } from '../batch.ts'
import { pages, type Page, type Rest } from '../pages.ts'
import type { StoreFailure, UserStore } from '../user-store.ts'
import { createCursor, type Cursor } from './cursor.ts'
import { toObjectId, toUser, type Attempt, type UserDocument } from './documents.ts'

/** The most users in a page of a list, and the most bytes of documents; a longer user gets a page of its own. */
const PAGE = 1_000
const PAGE_BYTES = 250_000

interface Parts {
  attempt: Attempt
  client: () => MongoClient
}

export function lists({ attempt, client }: Parts): Pick<UserStore, 'list' | 'ids'> {
  let size = 1 // how many users to ask for in the next page of any list; grows while users are short

  /**
   * Whether the server has lost a cursor: it was restarted, or there are several routers (mongos), each with its own
   * cursors. From then on, each page is a query of its own, so that lost cursors do not pile up.
   */
  let losesCursors = false

  /** Two at a time, because a response can have 16 MB. */
  const inTurn = atMost(2, (read: () => Promise<Buffer[]>) => attempt(read), letOthersIn)

  /** A few at a time: otherwise, many lists would take all connections of the driver. */
  const idsOf = atMost(
    2,
    async ({ after, limit }: { after: string | undefined; limit: number }) => {
      const page = { sort: { _id: 1 }, limit, batchSize: limit + 1 } as const
      const options = { projection: { _id: 1 }, ...page }
      const found = await attempt((users) => users.find(following(after), options).toArray())
      return found.map(({ _id }) => _id.toHexString())
    },
    letOthersIn,
  )

  async function* list(which: { after?: string | undefined; ids?: string[] } = {}) {
    let cursor: Cursor | undefined
    let isAlone = false // whether the page has a query of its own

    async function page(rest: Rest): Promise<Page> {
      const batchSize = size
      const documents = await batch(rest, batchSize)
      size = nextSize(documents, batchSize)
      const users = documents.slice(0, endOf(documents)).map(toUser)
      const isWhole = users.length === documents.length
      const isAtEnd = !cursor!.hasMore() && !(isAlone && documents.length === batchSize)
      // What does not fit is read again, so that it is not in memory while the client reads this page.
      if (!isWhole || isAlone) close()
      return { users, isLast: isWhole && isAtEnd }
    }

    async function batch({ after, ids }: Rest, batchSize: number): Promise<Buffer[]> {
      const open = cursor
      try {
        if (open) return await inTurn(() => open.next(batchSize))
      } catch (error) {
        const { cause } = error as StoreFailure
        losesCursors ||= (cause as MongoServerError).code === CURSOR_NOT_FOUND
        close() // and a query continues the list
      }
      const filter = ids ? { _id: { $in: ids.map(toObjectId) } } : following(after)
      isAlone = losesCursors
      const limit = isAlone ? batchSize : NO_LIMIT
      return inTurn(() => {
        cursor = createCursor(client(), { filter, sort: { _id: 1 }, limit })
        return cursor.next(batchSize)
      })
    }

    function close(): void {
      cursor?.close()
      cursor = undefined
    }

    try {
      yield* pages(which, page)
    } finally {
      close()
    }
  }

  return { list, ids: (after, limit) => idsOf({ after, limit }) }
}

const NO_LIMIT = 0
const CURSOR_NOT_FOUND = 43 // https://www.mongodb.com/docs/manual/reference/error-codes/

/** How many of `documents` fit in `PAGE_BYTES`, but at least one. */
function endOf(documents: Buffer[]): number {
  let bytes = 0
  const end = documents.findIndex(({ length }, i) => (bytes += length) > PAGE_BYTES && i > 0)
  return end === -1 ? documents.length : end
}

function nextSize(documents: Buffer[], size: number): number {
  const longest = Math.max(1, ...documents.map(({ length }) => length))
  return Math.max(1, Math.min(PAGE, 4 * size, Math.floor(PAGE_BYTES / longest)))
}

const following = (id?: string): Filter<UserDocument> =>
  id ? { _id: { $gt: toObjectId(id) } } : {}
