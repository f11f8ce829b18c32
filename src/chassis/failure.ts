// The failure of any store. Knows nothing of what the store keeps.

/** The store could not do its task; `cause` is the driver's error. */
export class StoreFailure extends Error {
  /** What /readyz says: `ECONNREFUSED`, for example. Never a value or a credential. */
  readonly kind: string

  constructor(cause: unknown, task = 'use the data store', kind?: string) {
    const message = withoutValues(String(Object(cause).message ?? cause))
    super(`cannot ${task}: ${kind ? `${kind}: ` : ''}${message}`, { cause })
    this.kind = kind ?? 'error'
  }
}

/** A message of a driver without what MongoDB quotes of keys and commands: it has their values. */
export const withoutValues = (message: string): string => message.replace(/( dup key:)? *\{.*/s, '')
