// Reads a list page by page.
import type { Client } from '../chassis/index.ts'
import type { Filter, User, UserStore } from './user-store.ts'

/** The most bytes of users in a page of a list. A longer user gets a page of its own. */
export const PAGE_BYTES = 64 * 1024

/** The pages of a list. Each is read when the caller asks for it; then the one before is emptied, and not kept. */
export async function* pagesOf(
  store: Pick<UserStore, 'list'>,
  filter: Filter = {},
  client?: Client,
): AsyncGenerator<User[]> {
  const position: { query?: Filter | undefined; page?: WeakRef<User[]> } = { query: filter }
  // In a variable of this generator, the page would stay in memory until the next one.
  const readPage = async (query: Filter) => {
    const { users, next } = await store.list(query, client)
    position.query = next === undefined ? undefined : { ...filter, after: next }
    position.page = new WeakRef(users)
    return users
  }
  // Emptied: otherwise V8 keeps pages that nobody has any more, until it collects its old generation. Lists of 64 clients
  // at once then take a fifth more.
  for (; position.query; position.page?.deref()?.splice(0)) yield await readPage(position.query)
}
