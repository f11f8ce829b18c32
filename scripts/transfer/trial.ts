// A store that tells what the configured one would do, and leaves that as it is.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openExisting, openStore } from '../../src/store/open.ts'
import type { UserStore } from '../../src/store/user-store.ts'

/** @throws StoreFailure */
export async function openTrial(
  config: Parameters<typeof openStore>[0],
): Promise<Pick<UserStore, 'createMany' | 'most' | 'list' | 'close'>> {
  const real = await openExisting(config)
  const dataDir = scratch([tmpdir(), config.dataDir])
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
    most: trial.most,
    list: (which) => (real ?? trial).list(which),
    async close() {
      await real?.close()
      await trial.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}

/** A new folder in the first of `folders` that can be written; a container's may all be read-only but one. */
function scratch(folders: string[]): string {
  for (const folder of folders) {
    try {
      return mkdtempSync(join(folder, 'import-users-'))
    } catch {
      continue
    }
  }
  throw new Error('a dry run needs a folder that can be written: TMPDIR names one')
}
