// import-users and export-users, as programs, and the files and the stores of one test.
import { afterEach, beforeEach } from '@jest/globals'
import { MongoClient } from 'mongodb'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killPrograms, run } from './program.ts'
import type { Place } from './stores.ts'

export function useTransfers() {
  let folder: string
  const places = new Set<Place>()
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'users-service-'))
  })
  afterEach(async () => {
    await killPrograms()
    for (const place of places) await place.remove()
    places.clear()
    rmSync(folder, { recursive: true })
  })

  async function done(script: string, place: Place, args: string[], input?: string) {
    const program = run(`scripts/${script}`, place, {}, args)
    program.process.stdin!.end(input)
    return { code: await program.ended, ...program.output }
  }

  return {
    folder: () => folder,
    /** A place that is removed when the test ends. */
    at: (kind: () => Place): Place => {
      const place = kind()
      places.add(place)
      return place
    },
    file: (name: string, content: string | Buffer): string => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    },
    done,
    importUsers: (place: Place, ...args: string[]) => done('import-users', place, args),
    exportUsers: (place: Place, ...args: string[]) => done('export-users', place, args),
  }
}

/** Whether each look-up in the store reads all its users, as FerretDB's do: thousands are many there. */
export async function scans({ mongodbUri }: Place): Promise<boolean> {
  if (mongodbUri === undefined) return false
  const client = new MongoClient(mongodbUri)
  const isFerretDb = 'ferretdbVersion' in (await client.db().command({ buildInfo: 1 }))
  await client.close()
  return isFerretDb
}
