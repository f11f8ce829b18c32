// Picks the store. The only file that knows both; loads only the one that is used.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BatchObserver } from './batch.ts'
import type { UserStore } from './user-store.ts'

/** Opens the MongoDB store if there is a URI, else the embedded one in `dataDir`. @throws StoreFailure */
export async function openStore(
  config: { mongodbUri: string | undefined; dataDir: string },
  onBatch?: BatchObserver,
): Promise<UserStore> {
  if (config.mongodbUri) {
    const { openMongoStore } = await import('./mongo/store.ts')
    return openMongoStore(config.mongodbUri, onBatch)
  }
  const { openSqliteStore } = await import('./sqlite.ts')
  return openSqliteStore(databaseIn(config.dataDir), onBatch)
}

/** Opens the store, but makes none. @returns undefined if there is none @throws StoreFailure */
export async function openExisting(
  config: Parameters<typeof openStore>[0],
): Promise<UserStore | undefined> {
  if (!config.mongodbUri)
    return existsSync(databaseIn(config.dataDir)) ? openStore(config) : undefined
  const { isMongoStore } = await import('./mongo/store.ts')
  return (await isMongoStore(config.mongodbUri)) ? openStore(config) : undefined
}

/** The file that the embedded store keeps the users in. */
export const databaseIn = (dataDir: string): string => join(dataDir, 'users.db')
