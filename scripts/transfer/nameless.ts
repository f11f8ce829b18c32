// Users without an email, whom nothing but their names tells apart.
import { hash } from 'node:crypto'
import type { UserStore } from '../../src/store/user-store.ts'

/**
 * The users without an email who were there when it was asked first, of which a line can stand for one.
 * It reads the whole store then, and keeps a few dozen bytes for each of them.
 */
export interface Nameless {
  /** Reads them, if that was not done yet. */
  ready(): Promise<void>
  /** Whether one with this name is there, for whom no line has stood yet; now one has. */
  take(name: string): boolean
}

export function nameless(store: Pick<UserStore, 'list'>): Nameless {
  let left: Map<string, number> | undefined
  return {
    async ready() {
      left ??= await count(store)
    },
    take(name) {
      const key = keyOf(name)
      const users = left?.get(key) ?? 0
      if (users > 0) left?.set(key, users - 1)
      return users > 0
    },
  }
}

async function count(store: Pick<UserStore, 'list'>): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for await (const page of store.list()) {
    for (const { name, email } of page) {
      if (email !== '') continue
      const key = keyOf(name)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  return counts
}

/** Names are of any length, these are not. */
const keyOf = (name: string): string => hash('sha256', name, 'base64')
