// The operations, with conditional writes but without pages, as a model in memory: the response
// that each request must get.
import { isDeepStrictEqual } from 'node:util'
import type { operations } from '../../src/openapi.ts'
import type { Changes, User } from '../../src/store/user-store.ts'
import { newUser } from './users.ts'

type Modelled = 'listUsers' | 'createUser' | 'readUser' | 'renameUser' | 'deleteUser' | 'login'

export interface Request {
  operation: Extract<keyof operations, Modelled>
  /** The id in the path. */
  id: string
  body: Record<string, unknown>
  /** What the user must still have of what can change, sent as `If-Match`. */
  ifHas?: Required<Changes> | undefined
}

/** The status and what matters of the body: users, the id in a token, or the email that is taken. */
export type Response = [status: number, body?: unknown]

export class Model {
  #users = new Map<string, User>()
  #formerIds = new Set<string>()

  copy(): Model {
    const copy = new Model()
    copy.#users = new Map(this.#users)
    copy.#formerIds = new Set(this.#formerIds)
    return copy
  }

  /**
   * Performs a request.
   *
   * @param actual the response of the service, which alone chooses a new id
   * @returns what `actual` should be
   */
  respond({ operation, id, body, ifHas }: Request, actual: Response): Response {
    const user = this.#users.get(id)
    const hasChanged = user && ifHas && !isDeepStrictEqual({ ...user, ...ifHas }, user)
    switch (operation) {
      case 'listUsers':
        return [200, [...this.#users.values()]]
      case 'createUser':
        return this.#create(body, actual[1] as User)
      case 'readUser':
        return user ? [200, user] : [404]
      case 'renameUser': {
        if (!isFilled(body['name'])) return [400]
        if (!user) return [404]
        const renamed = { ...user, ...changesIn(body, user) }
        if (hasChanged && !isDeepStrictEqual(renamed, user)) return [412]
        this.#users.set(id, renamed)
        return [204]
      }
      case 'deleteUser':
        if (hasChanged) return [412]
        return [this.#users.delete(id) ? 204 : 404]
      case 'login': {
        const { email } = body
        if (!isFilled(email)) return [400]
        const owner = this.#ownerOf(email)
        return owner ? [200, owner.id] : [401]
      }
    }
  }

  #create(body: Request['body'], actual?: User): Response {
    const [name, email] = [storedText(body['name']), storedText(body['email'])]
    if (name === undefined || email === undefined) return [400]
    if (email !== '' && this.#ownerOf(email)) return [400, email]
    const isNewId = /^[0-9a-f]{24}$/.test(actual?.id ?? '') && !this.#formerIds.has(actual!.id)
    const id = isNewId ? actual!.id : 'a new id'
    const given = FIELDS.map((field) => [field, body[field]])
    const user = { id, ...Object.fromEntries(given), name, email } as User
    this.#users.set(id, user)
    this.#formerIds.add(id)
    return [201, user]
  }

  #ownerOf(email: string): User | undefined {
    return [...this.#users.values()].find((user) => user.email === email)
  }
}

const FIELDS = Object.keys(newUser())

/** The text that is stored for a value of a request; undefined if the value is refused. */
function storedText(value: unknown): string | undefined {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  return typeof value === 'string' && value.isWellFormed() ? value : undefined
}

/** What a PUT makes of a user: an absent field stays. */
const changesIn = (body: Partial<Changes>, user: User): Required<Changes> => ({
  name: body.name ?? user.name,
})

/** Values that bodies, and conditions, often have. */
export const OFTEN: { [Field in keyof Changes]-?: Required<Changes>[Field][] } = {
  name: ['Ada', 'Grace', ''],
}

const isFilled = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.isWellFormed()
