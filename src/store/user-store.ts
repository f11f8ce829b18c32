// The port: what the operations can ask of a store. No driver's error, id type or query leaves a store.
import type { Client, Store } from '../chassis/index.ts'
import type { components, operations } from '../openapi.ts'

/** The user of the contract, but with every field: an absent one is the empty text. */
export type User = Required<components['schemas']['User']>

/**
 * Keeps users. Ids are 24 lower-case hexadecimal digits and sort by creation; no user has any other
 * text as its id. Text is well-formed Unicode and comes back exactly as it went in. Emails are
 * unique and compared exactly; the empty text means no email. Once the promise of a write has resolved,
 * the write is durable and every later read sees it.
 *
 * Every method rejects with `StoreFailure` when the store fails, and with `Aborted` when the client leaves before the call
 * begins.
 */
export interface UserStore extends Store {
  /** Stores a new user, under a new id unless it has one from elsewhere. @throws EmailTaken, or IdTaken if only that is */
  create(user: NewUser, client?: Client): Promise<User>

  find(id: string, client?: Client): Promise<User | undefined>

  /** The user with exactly this email; none for the empty text. */
  findByEmail(email: string, client?: Client): Promise<User | undefined>

  /**
   * The first users of a list: at most `limit`, and at most about 64 KiB; a longer user has a page of its own. The
   * array is new: the caller may empty it.
   */
  list(query: ListQuery, client?: Client): Promise<Page>

  /** Replaces what can change of a user. */
  rename(id: string, changes: Changes, condition?: Condition, client?: Client): Promise<WriteResult>

  /** Deletes the user. */
  remove(id: string, condition?: Condition, client?: Client): Promise<WriteResult>
}

/**
 * What can change of a user: the body of `renameUser`. Never the email: only `create` says that one is taken, and keeps an
 * empty one out of the unique index. With a change of it, `rename` would fail, with a 500.
 */
export type Changes = 'email' extends keyof NewName ? { 'an email cannot change': never } : NewName
type NewName = components['schemas']['NewName']

/**
 * Whether a user may be changed. No other change comes between the check and the write. A store keeps no user in memory
 * while many conditional writes wait.
 */
export type Condition = (user: User) => boolean

/**
 * What a write found: a user whom it changed, no user with the id, or one who does not meet the condition, or whom
 * others changed each time it tried.
 */
export type WriteResult = 'done' | 'not found' | 'refused'

type Parameters = NonNullable<operations['listUsers']['parameters']['query']>

/**
 * Which users a list has, in order of creation: all, or those that meet what is given. Every reader of a filter ends with
 * `rest satisfies Record<string, never>`: a new parameter breaks the build until it is handled.
 */
export type Filter = Omit<Parameters, 'email' | 'limit'>

/** A page: of at most `limit` users; without it, the store decides. */
export type ListQuery = Filter & Pick<Parameters, 'limit'>

export interface Page {
  /** A new array, which the caller may change. */
  users: User[]
  /** The id of the last of `users`, if more users followed it when they were read. */
  next: string | undefined
}

/** How to open a store. */
export interface StoreOptions {
  /** Called with what a person should change, although the store can be used. */
  warn?: (text: string) => void
  /** Whether a program only reads. Then MongoDB may take longer, and needs no index on email, and no right but to find. */
  readOnly?: boolean
  /** Whether a program creates users, perhaps many: SQLite then uses more memory and space, and MongoDB may take longer. */
  isProgram?: boolean
}

/** A user to store, with the id that it had elsewhere, if any. */
export type NewUser = Omit<User, 'id'> & { id?: string | undefined }

/** The kind of a StoreFailure when another program has stored something else than text: calls for other users work. */
export const NOT_TEXT = 'a field is not text'

/** Another user has this email. */
export class EmailTaken extends Error {
  constructor(email: string) {
    super(`a user with email \`${email}\` already exists`)
  }
}

/** Another user has this id. */
export class IdTaken extends Error {}
