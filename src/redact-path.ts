// What the log and the traces may show of a path.

/** After `/users/`, only an id is shown, also if `/users` is the base path. */
export const redactPath = (path: string): string => path.replace(NOT_AN_ID, '…')

/** `users/` twice: the base path may be `/users`. */
const NOT_AN_ID = /(?<=\/users\/)(?!(?:users\/)?[\da-f]{24}$).+/i
