// The specification, section 4, as a model in memory, with pages and conditional writes: what each request
// must be answered.
import type { User } from '../../src/store/user-store.ts'

export interface Request {
  operation: 'listUsers' | 'createUser' | 'readUser' | 'renameUser' | 'deleteUser' | 'login'
  /** That in the path, where the operation has one. */
  id: string
  body: Record<string, unknown>
  /** That of a page, which begins behind the id. */
  limit?: number | undefined
  /** What the user is called by `If-Match`, which a write then needs to be so. */
  ifName?: string | undefined
}

/**
 * The status and what matters of the body: users, whom a token is for, or whose email is taken; and the
 * id that the next page begins behind.
 */
export type Answer = [status: number, body?: unknown, next?: string]

export class PlainUsers {
  #users = new Map<string, User>()
  #former = new Set<string>()

  copy(): PlainUsers {
    const copy = new PlainUsers()
    copy.#users = new Map(this.#users)
    copy.#former = new Set(this.#former)
    return copy
  }

  /**
   * Does what is requested.
   *
   * @param seen the answer of the service, for what the service alone decides: a new id
   * @returns what `seen` should be
   */
  answer({ operation, id, body, limit, ifName }: Request, seen: Answer): Answer {
    const user = this.#users.get(id)
    const isOther = user && ifName !== undefined && user.name !== ifName
    switch (operation) {
      case 'listUsers':
        return limit === undefined ? [200, [...this.#users.values()]] : this.#page(id, limit)
      case 'createUser':
        return this.#create(textOf(body['name']), textOf(body['email']), seen[1] as User)
      case 'readUser':
        return user ? [200, user] : [404]
      case 'renameUser':
        if (!isFilled(body['name'])) return [400]
        if (isOther) return [412]
        if (user) this.#users.set(id, { ...user, name: body['name'] })
        return [user ? 204 : 404]
      case 'deleteUser':
        if (isOther) return [412]
        return [this.#users.delete(id) ? 204 : 404]
      case 'login': {
        const { email } = body
        if (!isFilled(email)) return [400]
        const owner = this.#ownerOf(email)
        return owner ? [200, owner.id] : [401]
      }
    }
  }

  #page(after: string, limit: number): Answer {
    const behind = [...this.#users.values()].filter(({ id }) => id > after)
    const page = behind.slice(0, limit)
    return behind.length > limit ? [200, page, page.at(-1)!.id] : [200, page]
  }

  #create(name: string | undefined, email: string | undefined, seen?: User): Answer {
    if (name === undefined || email === undefined) return [400]
    if (email !== '' && this.#ownerOf(email)) return [400, email]
    const fresh = /^[0-9a-f]{24}$/.test(seen?.id ?? '') && !this.#former.has(seen!.id)
    const user = { id: fresh ? seen!.id : 'a new id', name, email }
    this.#users.set(user.id, user)
    this.#former.add(user.id)
    return [201, user]
  }

  #ownerOf(email: string): User | undefined {
    return [...this.#users.values()].find((user) => user.email === email)
  }
}

/** The text that is stored for a field of a new user; undefined if there is none to store. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  return typeof value === 'string' && value.isWellFormed() ? value : undefined
}

const isFilled = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.isWellFormed()
