// Reads a list page by page; each store knows how to read one page.
import type { User } from './user-store.ts'

/** The most bytes of users in a page of a list. A longer user gets a page of its own. */
export const PAGE_BYTES = 64 * 1024

export interface Page {
  users: User[]
  /** Whether no user follows. So a short list is one query, and shows one moment. */
  isLast: boolean
}

/** The users after the id `after`; if there are `ids`, only those of them. */
export interface PageQuery {
  after: string
  ids: string[] | undefined
}

/** Implements `UserStore.list`. @param read reads the first page of the users of a query */
export async function* readPages(
  { after = '', ids }: { after?: string | undefined; ids?: string[] },
  read: (query: PageQuery) => Promise<Page>,
): AsyncGenerator<User[]> {
  for (let isAtEnd = false; !isAtEnd;) {
    const idsLeft = ids?.filter((id) => id > after)
    if (idsLeft?.length === 0) return
    const { users, isLast } = await read({ after, ids: idsLeft })
    isAtEnd = isLast
    after = users.at(-1)?.id ?? after
    if (users.length > 0) yield users
  }
}
