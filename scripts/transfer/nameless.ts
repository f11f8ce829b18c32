// Users without an email, whom nothing but their names tells apart.
import { hash } from 'node:crypto'
import type { UserStore } from '../../src/store/user-store.ts'
import { usersOf } from './json.ts'

/**
 * A function that says of a name whether one more user is there who has it, and no email, than it was
 * asked for it: so many lines with this name stand for users who are there already. It reads the whole
 * store when it is asked first, and keeps a few dozen bytes for each such user.
 */
export function nameless(store: Pick<UserStore, 'list'>): (name: string) => Promise<boolean> {
  let counts: Promise<Map<string, number>> | undefined
  return async (name) => {
    counts ??= count(store)
    const left = await counts
    const key = keyOf(name)
    const users = left.get(key) ?? 0
    if (users > 0) left.set(key, users - 1)
    return users > 0
  }
}

async function count(store: Pick<UserStore, 'list'>): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for await (const page of store.list()) {
    for (const { name, email } of usersOf(page)) {
      if (email === '') counts.set(keyOf(name), (counts.get(keyOf(name)) ?? 0) + 1)
    }
  }
  return counts
}

/** Names are of any length, these are not. */
const keyOf = (name: string): string => hash('sha256', name, 'base64')
