// A cursor over users as bytes. The driver's cursors keep the last batch in memory, parsed: with them, 8 lists at
// once take twice the time (`npm run bench`).
import type { Document, Long, MongoClient } from 'mongodb'
import { USERS } from './documents.ts'

export type Cursor = ReturnType<typeof createCursor>

/** @param find the options of the command `find` */
export function createCursor(client: MongoClient, find: Document) {
  const db = client.db()
  const session = client.startSession({ causalConsistency: false })
  let id: Long | undefined
  let isClosed = false

  const hasMore = () => id?.isZero() !== true

  /** Closes without waiting, because the server may be gone. */
  function close(): void {
    isClosed = true
    if (id && hasMore()) db.command({ killCursors: USERS, cursors: [id] }).catch(() => {})
    void session.endSession()
  }

  return {
    hasMore,
    close,

    /** @param size how many documents to read; the server may return fewer @throws the driver's error */
    async next(size: number): Promise<Buffer[]> {
      const command = id ? { getMore: id, collection: USERS } : { find: USERS, ...find }
      const reply = await db.command({ ...command, batchSize: size }, { session, ...RAW })
      const { firstBatch, nextBatch = firstBatch } = reply['cursor'] as Record<string, Buffer[]>
      id = (reply['cursor'] as { id: Long }).id
      if (isClosed) close() // it was closed before the server responded
      return nextBatch!
    },
  }
}

const RAW = { fieldsAsRaw: { firstBatch: true, nextBatch: true }, promoteLongs: false }
