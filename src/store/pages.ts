// Reads a list page by page; each store knows how to read one page.
import type { User } from './user-store.ts'

export interface Page {
  users: User[]
  /** Whether no user follows. So a short list is one query, and shows one moment. */
  isLast: boolean
}

/** Which users of the list are left: those after the id `after`, or those with one of `ids`. */
export interface Rest {
  after: string
  ids: string[] | undefined
}

/** Implements `UserStore.list`. @param read reads the first page of the users that are left */
export async function* pages(
  { after = '', ids }: { after?: string | undefined; ids?: string[] },
  read: (rest: Rest) => Promise<Page>,
): AsyncGenerator<User[]> {
  for (let isAtEnd = false; !isAtEnd;) {
    const left = ids?.filter((id) => id > after)
    if (left?.length === 0) return
    const { users, isLast } = await read({ after, ids: left })
    isAtEnd = isLast
    after = users.at(-1)?.id ?? after
    if (users.length > 0) yield users
  }
}
