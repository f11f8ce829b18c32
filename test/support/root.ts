// For tests that need root, such as those of a small file system.
import { test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { chmodSync, truncateSync, writeFileSync } from 'node:fs'
import { runToEnd } from './program.ts'
import { sqlitePlace, type Place } from './stores.ts'

const SUDO = process.getuid?.() === 0 ? [] : ['sudo', '-n']
export const asRoot = (...command: string[]) => runToEnd('env', [...SUDO, ...command])
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

/** A place for SQLite, on a file system that becomes read-only as it does when its disk fails. */
export function ext4Place(): Place & { fail: () => void } {
  const place = sqlitePlace()
  const { DATA_DIR } = place
  const image = `${DATA_DIR}.ext4`
  writeFileSync(image, '')
  truncateSync(image, 32 * 1024 * 1024)
  asRoot('mkfs.ext4', '-q', '-E', `root_owner=${process.getuid!()}:${process.getgid!()}`, image)
  asRoot('mount', '-o', 'loop,errors=remount-ro', image, DATA_DIR)
  chmodSync(DATA_DIR, 0o700)
  const remove = async () => {
    asRoot('umount', '--lazy', DATA_DIR)
    asRoot('rm', image)
    await place.remove()
  }
  return { ...place, remove, fail: () => void asRoot('mount', '-o', 'remount,abort', DATA_DIR) }
}

const hasLoop = spawnSync('sh', ['-c', 'command -v mkfs.ext4 && test -e /dev/loop-control']).status
export const testExt4: typeof test.skip = hasLoop === 0 ? testAsRoot : test.skip
