// A store for a dry run: it returns what the configured store would return, and does not change that store.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openExisting, openStore } from '../../src/store/open.ts'
import type { Newcomer, UserStore } from '../../src/store/user-store.ts'

/** @throws StoreFailure */
export async function openTrial(
  config: Parameters<typeof openStore>[0],
): Promise<Pick<UserStore, 'createMany' | 'most' | 'close'>> {
  const real = await openExisting(config)
  const folder = existsSync(config.dataDir) ? config.dataDir : tmpdir()
  const dataDir = mkdtempSync(join(folder, 'dry-run-'))
  const trial = await openStore({ mongodbUri: undefined, dataDir })

  const findConflict = async ({ id, email }: Newcomer) =>
    (await real?.findByEmail(email)) ?? (id === undefined ? undefined : real?.find(id))

  return {
    ...trial,
    async createMany(users, update) {
      const conflicts = (await Promise.all(users.map(findConflict))).flatMap((user) => user ?? [])
      await trial.createMany(conflicts, false)
      return trial.createMany(users, update)
    },
    async close() {
      await real?.close()
      await trial.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}
