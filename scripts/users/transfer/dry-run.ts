// A store for a dry run: it returns what the configured store would return, and does not change that store.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openExisting, openStore } from '../../../src/store/open.ts'
import type { UserToImport, UserStore } from '../../../src/store/user-store.ts'

/** @throws StoreFailure */
export async function openDryRun(config: Parameters<typeof openStore>[0]): Promise<UserStore> {
  const real = await openExisting(config)
  const folder = existsSync(config.DATA_DIR) ? config.DATA_DIR : tmpdir()
  const DATA_DIR = mkdtempSync(join(folder, 'dry-run-'))
  const copy = await openStore({ MONGODB_URI: undefined, DATA_DIR })

  const findConflict = async ({ id, email }: UserToImport) =>
    (await real?.findByEmail(email)) ?? (id === undefined ? undefined : real?.find(id))

  return {
    ...copy,
    description: real?.description ?? 'a new store (check MONGODB_URI or DATA_DIR)',
    async createMany(users, update) {
      const conflicts = (await Promise.all(users.map(findConflict))).flatMap((user) => user ?? [])
      await copy.createMany(conflicts, false)
      return copy.createMany(users, update)
    },
    async close() {
      await real?.close()
      await copy.close()
      rmSync(DATA_DIR, { recursive: true })
    },
  }
}
