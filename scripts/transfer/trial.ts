// A store that tells what the configured one would do, and leaves that as it is.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { databaseIn, openStore } from '../../src/store/open.ts'
import type { UserStore } from '../../src/store/user-store.ts'

/** @throws StoreFailure */
export async function openTrial(
  config: Parameters<typeof openStore>[0],
): Promise<Pick<UserStore, 'createMany' | 'close'>> {
  const isThere = config.mongodbUri || existsSync(databaseIn(config.dataDir))
  const real = isThere ? await openStore(config) : undefined
  const dataDir = mkdtempSync(join(tmpdir(), 'import-users-'))
  const trial = await openStore({ mongodbUri: undefined, dataDir })

  /** Those of the users there are who could be in the way. */
  async function inTheWay({ id, email }: { id?: string | undefined; email: string }) {
    return (await real?.findByEmail(email)) ?? (id === undefined ? undefined : real?.find(id))
  }

  return {
    async createMany(users, update) {
      const found = await Promise.all(users.map(inTheWay))
      await trial.createMany(
        found.filter((user) => user !== undefined),
        false,
      )
      return trial.createMany(users, update)
    },
    async close() {
      await real?.close()
      await trial.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}
