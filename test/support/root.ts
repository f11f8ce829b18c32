// For tests that need root, such as those of a small file system.
import { test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { runToEnd } from './program.ts'
import { sqlitePlace, type Place } from './stores.ts'

const SUDO = process.getuid?.() === 0 ? [] : ['sudo', '-n']
const asRoot = (...command: string[]) => runToEnd('env', [...SUDO, ...command])
const mayMount = spawnSync('unshare', ['--mount', 'true']).status === 0 || SUDO.length > 0
export const testAsRoot: typeof test.skip =
  mayMount && process.platform === 'linux' ? test : test.skip

/** A place for SQLite, on a file system of `size`, such as `8m`. */
export function tmpfsPlace(size: string): Place {
  const place = sqlitePlace()
  const options = `size=${size},uid=${process.getuid!()},mode=700`
  asRoot('mount', '-t', 'tmpfs', '-o', options, 'users-service', place.DATA_DIR)
  const remove = async () => {
    asRoot('umount', '--lazy', place.DATA_DIR)
    await place.remove()
  }
  return { ...place, remove }
}
