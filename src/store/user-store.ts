// The port between the operations and whatever keeps the users. Speaks the domain only: no driver's
// error, id type or query leaves a store.
import type { components } from '../contract/openapi.ts'

/** The contract's. */
export type User = components['schemas']['User']

/**
 * Keeps users. Ids are 24 lower-case hexadecimal digits and sort by creation; any other text is an
 * id that no user has. Text is well-formed Unicode and comes back exactly as it went in. Emails are
 * unique and compared exactly; the empty one is no email. Once a promise of a write has resolved,
 * the write is durable and every later read sees it.
 *
 * Every method rejects with `StoreFailure` when the store fails.
 */
export interface UserStore {
  /** Where the users are, for people; without credentials. */
  description: string

  /** Stores a new user under a new id. @throws EmailTaken */
  create(user: Omit<User, 'id'>): Promise<User>

  /** The most users that `createMany` takes. */
  most: number

  /**
   * Stores many users at once, and leaves those alone that are there already.
   *
   * @param users `most` at most; those without an id get a new one
   * @param update whether a user that has the email of one of them gets its name
   * @returns what became of each
   */
  createMany(users: Newcomer[], update: boolean): Promise<Outcome[]>

  find(id: string): Promise<User | undefined>

  /** The user with exactly this email; none for the empty one. */
  findByEmail(email: string): Promise<User | undefined>

  /**
   * Users in order of creation, in pages that are fetched as they are consumed: all of them, or those
   * behind the id `after`, or those with the given `ids`, which come in that order, too.
   */
  list(which?: { after?: string | undefined; ids?: string[] }): AsyncIterable<User[]>

  /** The ids of the first users, `limit` at most, or of the first behind the id `after`, in order of creation. */
  ids(after: string | undefined, limit: number): Promise<string[]>

  /** Replaces the name. False when no user has this id, or, if `ifName` is given, this id and that name. */
  rename(id: string, name: string, ifName?: string): Promise<boolean>

  /** Deletes the user. False when no user has this id, or, if `ifName` is given, this id and that name. */
  remove(id: string, ifName?: string): Promise<boolean>

  isEmpty(): Promise<boolean>

  close(): Promise<void>
}

/** A user that is to be stored, with the id that it had elsewhere, if any. */
export type Newcomer = Omit<User, 'id'> & { id?: string | undefined }

/** What became of a newcomer. */
export type Outcome = 'created' | 'updated' | 'email taken' | 'id taken'

/** Another user has this email. */
export class EmailTaken extends Error {
  constructor(email: string, options?: ErrorOptions) {
    super(`a user with email \`${email}\` already exists`, options)
  }
}

/** The store could not do what it was asked; `cause` is the driver's error. */
export class StoreFailure extends Error {
  constructor(cause: unknown, task = 'use the data store') {
    super(`cannot ${task}: ${(cause as Error).message}`, { cause })
  }
}
