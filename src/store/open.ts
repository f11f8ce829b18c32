// Picks the store. The only file that knows every store; loads only the one in use.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreOptions, UserStore } from './user-store.ts'

interface Config {
  mongodbUri: string | undefined
  dataDir: string
}

/** Opens the MongoDB store if there is a URI, else the SQLite one in `dataDir`. @throws StoreFailure */
export async function openStore(
  { mongodbUri, dataDir }: Config,
  options: StoreOptions = {},
): Promise<UserStore> {
  if (mongodbUri) {
    const { openMongoStore } = await import('./mongo/store.ts')
    return openMongoStore(mongodbUri, options)
  }
  const { openSqliteStore } = await import('./sqlite/store.ts')
  return openSqliteStore(databaseIn(dataDir), options)
}

/** Opens the store only if it exists. @throws StoreFailure */
export async function openExisting(config: Config): Promise<UserStore | undefined> {
  const exists = config.mongodbUri
    ? await (await import('./mongo/store.ts')).isMongoStore(config.mongodbUri)
    : existsSync(databaseIn(config.dataDir))
  return exists ? openStore(config) : undefined
}

/** The file that the SQLite store keeps the users in. */
export const databaseIn = (dataDir: string): string => join(dataDir, 'users.db')
