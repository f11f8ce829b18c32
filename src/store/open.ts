// Picks the store. The only file that knows every store; loads only the one in use.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { StoreOptions, UserStore } from './user-store.ts'

interface Config {
  MONGODB_URI: string | undefined
  DATA_DIR: string
}

/** Opens the MongoDB store if there is a URI, else the SQLite one in `DATA_DIR`. @throws StoreFailure */
export async function openStore(
  { MONGODB_URI, DATA_DIR }: Config,
  options: StoreOptions = {},
): Promise<UserStore> {
  if (MONGODB_URI) {
    const { openMongoStore } = await import('./mongo/store.ts')
    return openMongoStore(MONGODB_URI, options)
  }
  const { openSqliteStore } = await import('./sqlite/store.ts')
  return openSqliteStore(databaseIn(DATA_DIR), options)
}

/** Opens the store to read, only if it exists. @throws StoreFailure, also if MongoDB has no such collection */
export async function openExisting(config: Config): Promise<UserStore | undefined> {
  const file = databaseIn(config.DATA_DIR)
  const exists = config.MONGODB_URI || statSync(file, { throwIfNoEntry: false }) // throws if it may not look there
  return exists ? openStore(config, { readOnly: true }) : undefined
}

/** The file that the SQLite store keeps the users in. Absolute, because SQLite reads `file:x` as a URI. */
export const databaseIn = (folder: string): string => resolve(folder, 'users.db')
