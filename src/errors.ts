// What can go wrong with users, as responses.
import { CHALLENGE } from './auth/guard.ts'
import { HttpError } from './chassis/index.ts'
import { EmailTaken } from './store/user-store.ts'

export const USER_NOT_FOUND = new HttpError(404, 'user_not_found', 'no user has this id')
const NO_USER = 'no user has this email'
export const UNKNOWN_EMAIL = new HttpError(401, 'email_not_found', NO_USER, CHALLENGE)

/** The response to an error of the store's port. */
export const toHttpError = (error: unknown): HttpError | undefined =>
  error instanceof EmailTaken ? new HttpError(400, 'email_taken', error.message) : undefined
