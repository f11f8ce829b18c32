// Looks up users in MongoDB, many with one command. Long users have commands of their own, so that calls for
// other users never wait for them, and few of them are in memory at the same time.
import type { Collection } from 'mongodb'
import { letOthersIn } from '../../turns.ts'
import { batched, type BatchObserver, type Call } from '../batch.ts'
import type { User } from '../user-store.ts'
import { findEach, toUser, type Attempt, type UserDocument } from './documents.ts'

/**
 * The most look-ups, or inserts, in one command. With 64 connections this serves 2.4 times as many GETs
 * by id, and 2 to 5 times as many POSTs.
 */
export const BATCH = 100

/** A longer text, in UTF-16 code units, is long, and so is a user with more bytes. */
const LONG = 10_000

export const isLong = (text: string): boolean => text.length > LONG

/** The most commands at a time, because each can have a response of 16 MB. */
const COMMANDS = 2

/** How many long users are remembered, and the longest id or email by which one is, in UTF-16 code units. */
const REMEMBERED = 1_000
const LONGEST_REMEMBERED = 500

interface Parts {
  attempt: Attempt
  users: () => Collection<UserDocument>
  onBatch: BatchObserver
}

type LookUp = Call<string, User | undefined>

export function lookUps({ attempt, users, onBatch }: Parts) {
  const longUsers = new Set<string>() // ids and emails

  function remember(value: string): void {
    longUsers.add(value)
    if (longUsers.size > REMEMBERED) longUsers.delete(longUsers.values().next().value!)
  }

  /** Yields the calls whose users there are, batch by batch. At the end, resolves the others to undefined. */
  async function* found(field: 'id' | 'email', calls: LookUp[]) {
    const values = calls.map(({ item }) => item)
    const cursor = findEach(users(), field, values)
    while (!cursor.closed) {
      await attempt(() => cursor.hasNext()) // reads a batch; the driver closes the cursor after the last one
      const batch = new Map<string, { user: User; isLong: boolean }>()
      for (const document of cursor.readBufferedDocuments()) {
        const user = toUser(document)
        batch.set(user[field], { user, isLong: document.length > LONG })
      }
      yield calls.flatMap((call) => {
        const one = batch.get(call.item)
        return one ? [{ call, ...one }] : []
      })
    }
    for (const { resolve } of calls) resolve(undefined) // those with a user are resolved
  }

  /** @returns a function that looks up the user whose `field` has a value; at most `mostLong` long ones together */
  return function lookUp(operation: string, field: 'id' | 'email', mostLong: number) {
    const observe = { onBatch: (size: number) => onBatch(operation, size) }

    async function serveLong(calls: LookUp[]): Promise<void> {
      for await (const batch of found(field, calls)) {
        for (const { call, user, isLong } of batch) {
          if (!isLong) longUsers.delete(call.item)
          call.resolve(user)
          await letOthersIn() // its response is written before the next is made
        }
      }
    }
    const findLong = batched(serveLong, { most: mostLong, runs: 1, ...observe })

    async function serveShort(calls: LookUp[]): Promise<void> {
      for await (const batch of found(field, calls)) {
        for (const { call, user, isLong } of batch) {
          if (isLong) remember(call.item)
          call.resolve(isLong ? findLong(call.item) : user)
        }
      }
    }
    const findShort = batched(serveShort, { most: BATCH, runs: COMMANDS, ...observe })

    return (value: string): Promise<User | undefined> =>
      value.length > LONGEST_REMEMBERED || longUsers.has(value) ? findLong(value) : findShort(value)
  }
}
