// The programs in scripts/users, with the files and the stores of one test.
import { afterEach, beforeEach } from '@jest/globals'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { killPrograms, run } from './program.ts'
import { newFolder, read, root } from './readme.ts'
import { usePlaces, type Place } from './stores.ts'

/** The names of the programs. */
export const programs = readdirSync(join(root, 'scripts/users'))
  .filter((file) => file.endsWith('.ts') && read(`scripts/users/${file}`).startsWith('#!'))
  .map((file) => file.slice(0, -'.ts'.length))

export function useScripts() {
  let folder: string
  beforeEach(() => void (folder = newFolder()))
  afterEach(killPrograms)

  return {
    folder: () => folder,
    /** A place that is removed when the test ends. */
    at: usePlaces(),
    file: (name: string, content: string | Buffer): string => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    },
    done: async (script: string, place: Place, args: string[], input?: string | Buffer) => {
      const program = run(`scripts/users/${script}`, place, {}, args)
      program.process.stdin!.end(input)
      return { code: await program.ended, ...program.output }
    },
  }
}
