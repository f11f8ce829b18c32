// Reads lists from MongoDB page by page. One cursor serves all pages of a list, so that the server looks for its
// users only once.
import type { Collection, Filter, RunCommandCursor } from 'mongodb'
import { letOthersIn } from '../../turns.ts'
import { batched } from '../batch.ts'
import { pages, type Page, type Rest } from '../pages.ts'
import type { UserStore } from '../user-store.ts'
import { toObjectId, toUser, type UserDocument } from './documents.ts'

/** The most users in a page of a list, and the most bytes of documents; a longer user gets a page of its own. */
const PAGE = 500
const PAGE_BYTES = 250_000

interface Parts {
  /** Makes a call of the driver, waits for it, and translates its errors. */
  attempt: <T>(call: (users: Collection<UserDocument>) => Promise<T>) => Promise<T>
  /** Makes a cursor over documents as bytes. */
  open: (find: object) => RunCommandCursor
}

export function lists({ attempt, open }: Parts): Pick<UserStore, 'list' | 'ids'> {
  let size = 1 // how many users to ask for in the next page of any list; grows while users are short

  /** Reads the next documents of a cursor. Two cursors at a time, because a response can have 16 MB. */
  const nextBatch = batched<RunCommandCursor, Buffer[]>(
    async ([call]) => {
      const cursor = call!.item.setBatchSize(size)
      await attempt(() => cursor.hasNext())
      call!.resolve(cursor.readBufferedDocuments())
      await letOthersIn()
    },
    { most: 1, runs: 2, onBatch() {} },
  )

  /** A few at a time: otherwise, many lists would take all connections of the driver. */
  const idsOf = batched<{ after: string | undefined; limit: number }, string[]>(
    async ([call]) => {
      const { after, limit } = call!.item
      const page = { sort: { _id: 1 }, limit, batchSize: limit + 1 } as const
      const options = { projection: { _id: 1 }, ...page }
      const found = await attempt((users) => users.find(following(after), options).toArray())
      call!.resolve(found.map(({ _id }) => _id.toHexString()))
      await letOthersIn()
    },
    { most: 1, runs: 2, onBatch() {} },
  )

  return {
    ids: (after, limit) => idsOf({ after, limit }),
    async *list(which = {}) {
      let cursor: RunCommandCursor | undefined

      async function read(rest: Rest): Promise<Page> {
        const documents = await documentsOf(rest)
        size = nextSize(documents, size)
        const users = documents.slice(0, endOf(documents)).map(toUser)
        const isLast = cursor!.closed && users.length === documents.length
        // What is too much for a page is read again, so that it is not in memory while the client reads this page.
        if (users.length < documents.length) close()
        return { users, isLast }
      }

      async function documentsOf({ after, ids }: Rest): Promise<Buffer[]> {
        try {
          if (cursor) return await nextBatch(cursor)
        } catch {
          close() // a server that was away has lost it
        }
        const filter = ids ? { _id: { $in: ids.map(toObjectId) } } : following(after)
        const limit = ids && { limit: ids.length }
        cursor = open({ filter, sort: { _id: 1 }, batchSize: size, ...limit })
        return nextBatch(cursor)
      }

      function close(): void {
        cursor?.close().catch(() => {})
        cursor = undefined
      }

      try {
        yield* pages(which, read)
      } finally {
        close()
      }
    },
  }
}

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
