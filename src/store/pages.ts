// Reads a list page by page.
import type { Client } from '../chassis/index.ts'
import type { Filter, User, UserStore } from './user-store.ts'

/** The most bytes of users in a page of a list. A longer user gets a page of its own. */
export const PAGE_BYTES = 64 * 1024

/** The pages of a list. Each is read when the caller asks for it, and is a new array, which the caller may change. */
export async function* pagesOf(
  store: Pick<UserStore, 'list'>,
  filter: Filter = {},
  client?: Client,
): AsyncGenerator<User[]> {
  let query = filter
  for (;;) {
    const { users, next } = await store.list(query, client)
    yield users
    if (next === undefined) return
    query = { ...filter, after: next }
  }
}
