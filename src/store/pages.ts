// Reads a list page by page.
import type { Client } from '../chassis/index.ts'
import type { Filter, User, UserStore } from './user-store.ts'

/** The most bytes of users in a page of a list. A longer user gets a page of its own. */
export const PAGE_BYTES = 64 * 1024

/** The pages of a list. Each is read when the caller asks for it, and not kept. */
export async function* pagesOf(
  store: Pick<UserStore, 'list'>,
  filter: Filter = {},
  client?: Client,
): AsyncGenerator<User[]> {
  const position: { query?: Filter | undefined } = { query: filter }
  // In a variable of this generator, the page would stay in memory until the next one.
  const readPage = async (query: Filter) => {
    const { users, next } = await store.list(query, client)
    position.query = next === undefined ? undefined : { ...filter, after: next }
    return users
  }
  while (position.query) yield await readPage(position.query)
}
