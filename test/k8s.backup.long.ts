// The script of the job that backs up every night. (Its manifests: k8s.long.ts.)
import { beforeEach, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { newFolder, readYaml, root } from './support/readme.ts'
import { createAt, describeStores, sqlitePlace, usePlaces } from './support/stores.ts'
import { newUser } from './support/users.ts'

const [shell, ...args] = readYaml('k8s/components/backup/mongodb/cronjob.yaml').spec.jobTemplate
  .spec.template.spec.containers[0].command

const bin = newFolder()
for (const program of ['backup', 'export-users']) {
  const script = `#!/bin/sh\nexec node ${root}dist/scripts/users/${program}.js "$@"`
  writeFileSync(join(bin, program), script, { mode: 0o755 })
}

describeStores((kind) => {
  const at = usePlaces()
  let volume: string
  beforeEach(() => void (volume = newFolder()))

  const ending = kind === sqlitePlace ? 'db.gz' : 'ndjson.gz'
  const names = () => readdirSync(volume)
  /** The volume already has copies of so many users, of a night each. */
  const makeCopies = (...counts: number[]): string[] =>
    counts.map((count, i) => {
      const name = `users-2026-01-0${i + 1}T021500Z-${count}.${ending}`
      writeFileSync(join(volume, name), '')
      return name
    })

  /** Makes a store with so many users. @returns the script of the job, which copies it to the volume */
  async function jobFor(count: number, users = Array.from({ length: count }, () => newUser())) {
    const place = at(kind)
    await createAt(place, ...users)
    const uri = join(newFolder(), 'uri')
    writeFileSync(uri, place.MONGODB_URI ?? '')
    const found = { DATA_DIR: place.DATA_DIR, MONGODB_URI_FILE: place.MONGODB_URI ? uri : '' }
    return (more: object = {}) => {
      const env = { PATH: `${bin}:${process.env['PATH']}`, ...found, ...more }
      return spawnSync(shell, args, { cwd: volume, env, encoding: 'utf8' })
    }
  }

  test('the job keeps the latest seven copies, and all of them when it fails', async () => {
    const user = newUser()
    const job = await jobFor(1, [user])
    const old = makeCopies(1, 1, 1, 1, 1, 1, 1, 1, 2)
    const nowhere =
      kind === sqlitePlace ? { DATA_DIR: '/nowhere' } : { MONGODB_URI_FILE: '/nowhere' }
    expect(job(nowhere)).toMatchObject({ status: 1, stdout: expect.stringContaining('/nowhere') })
    expect(names()).toEqual(old)
    expect(job().status).toBe(0) // half of the users is a copy like any other
    const name = new RegExp(`^users-2\\d{3}-.*Z-1\\.${ending}$`)
    expect(names()).toEqual([...old.slice(3), expect.stringMatching(name)])
    expect(String(gunzipSync(readFileSync(join(volume, names()[6]!))))).toContain(user.email)
  })

  test('a copy with less than half of the users is kept apart until the next one, the job fails, and no other copy is deleted', async () => {
    const job = await jobFor(1_000)
    const old = makeCopies(2, 2, 2, 2, 2, 2, 2001)
    const stdout = expect.stringContaining('there are 1000 users, and the copy before has 2001')
    expect(job()).toMatchObject({ status: 3, stdout })
    const [first] = names()
    await sleep(1_000) // the name has the second
    expect(job()).toMatchObject({ status: 3, stdout })
    const [second] = names()
    expect(names()).toEqual([expect.stringMatching(/^fewer-users-.*Z-1000\./), ...old])
    expect(second).not.toBe(first)

    renameSync(join(volume, second!), join(volume, second!.replace('fewer-', '')))
    expect(job().status).toBe(0) // somebody has accepted that copy
  })

  test('a copy without users is kept apart, too, but not the first copy', async () => {
    const job = await jobFor(0)
    const [old] = makeCopies(1)
    expect(job().status).toBe(3)
    rmSync(join(volume, old!))
    expect(job().status).toBe(0)
  })
})
