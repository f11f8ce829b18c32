// A cursor over users as bytes. The driver's cursors keep the last batch in memory, parsed: with them, 8 lists at
// once take twice the time (`npm run bench`).
import type { Document, Long, MongoClient } from 'mongodb'
import { USERS } from './documents.ts'

export type Cursor = ReturnType<typeof createCursor>

/** @param find the options of the command `find` */
export function createCursor(client: MongoClient, find: Document) {
  const db = client.db()
  const session = client.startSession({ causalConsistency: false }) // a `getMore` must be in the session of its `find`
  let id: Long | undefined
  let isClosed = false

  /** Whether there are more documents after those that were read. */
  const hasMore = () => id?.isZero() === false

  /** Closes without waiting, because the server may be gone. */
  function close(): void {
    isClosed = true
    if (hasMore()) db.command({ killCursors: USERS, cursors: [id] }).catch(() => {})
    void session.endSession()
  }

  return {
    hasMore,
    close,

    /** @param size how many documents to read; the server may return fewer @throws the driver's error */
    async next(size: number): Promise<Buffer[]> {
      const command = id ? { getMore: id, collection: USERS } : { find: USERS, ...find }
      const reply = await db.command({ ...command, batchSize: size }, { session, ...RAW })
      const { id: rest, firstBatch, nextBatch } = reply['cursor'] as Reply
      id = rest
      if (isClosed) close() // the list did not wait for this batch
      return (firstBatch ?? nextBatch)!
    },
  }
}

const RAW = { fieldsAsRaw: { firstBatch: true, nextBatch: true }, promoteLongs: false }

interface Reply {
  id: Long
  firstBatch?: Buffer[]
  nextBatch?: Buffer[]
}
