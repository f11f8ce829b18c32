// One writer of a user at a time, on a server that does not change documents atomically. MongoDB does;
// FerretDB 1, which speaks its protocol, reads a document and then writes it, whoever has written it
// between (https://docs.ferretdb.io/v1.24/). What it does do atomically is to insert and to delete.
import { MongoServerError, type Collection, type Db, type ObjectId } from 'mongodb'
import { setTimeout as sleep } from 'node:timers/promises'

/** Whose turn it is to change a user, by the user's id. */
export interface Turn {
  _id: ObjectId
  since: Date
}

/** How old a turn is, in milliseconds, when whoever took it cannot be at it any more. */
const STALE = 5_000

/** The longest pause between two tries to have a turn. */
const PAUSE = 50

/** Whether writers need turns on this server. What cannot be asked is taken for MongoDB. */
export async function needsTurns(db: Db): Promise<boolean> {
  const about = await db.command({ buildInfo: 1 }).catch(() => ({}))
  return 'ferretdbVersion' in about
}

/** Has the turn, or waits for it as long as `waits` says. @returns undefined once it does not any more */
export async function takeTurn(
  _id: ObjectId,
  attempt: <T>(call: (turns: Collection<Turn>) => Promise<T>) => Promise<T>,
  waits: () => Promise<boolean>,
): Promise<{ end: () => Promise<unknown> } | undefined> {
  for (;;) {
    const turn = { _id, since: new Date() }
    if (await attempt((turns) => inserted(turns, turn))) {
      return { end: () => attempt((turns) => turns.deleteOne(turn)) }
    }
    if (!(await waits())) return undefined
    const since = { $lt: new Date(Date.now() - STALE) }
    await attempt((turns) => turns.deleteOne({ _id, since }))
    await sleep(Math.random() * PAUSE)
  }
}

async function inserted(turns: Collection<Turn>, turn: Turn): Promise<boolean> {
  try {
    await turns.insertOne(turn)
    return true
  } catch (error) {
    if (error instanceof MongoServerError && error.code === 11000) return false
    throw error
  }
}
