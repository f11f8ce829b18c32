// The script of the job that backs up every night. (Its manifests: k8s.test.ts.)
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { newFolder, read, root } from './support/readme.ts'
import { openStore } from '../src/store/open.ts'
import { createAt, describeStores, type Place } from './support/stores.ts'
import { useTransfers } from './support/transfers.ts'
import { newUser } from './support/users.ts'

const cronjob = read('k8s/components/backup/mongodb/cronjob.yaml')
const [shell, ...args] = parse(cronjob).spec.jobTemplate.spec.template.spec.containers[0].command

describeStores((kind) => {
  const { at, file, folder } = useTransfers()

  /** A volume with these copies, and the job. */
  function job(place: Place, old: string[]) {
    const bin = newFolder()
    for (const program of ['backup', 'export-users']) {
      const script = `#!/bin/sh\nexec node ${root}dist/scripts/users/${program}.js "$@"`
      writeFileSync(join(bin, program), script, { mode: 0o755 })
    }
    for (const name of old) file(name, '')
    const PATH = `${bin}:${process.env['PATH']}`
    const MONGODB_URI_FILE = place.MONGODB_URI ? file('uri', place.MONGODB_URI) : ''
    const env = { PATH, DATA_DIR: place.DATA_DIR, MONGODB_URI_FILE }
    return {
      MONGODB_URI_FILE,
      run: (more: object = {}) => {
        const options = { cwd: folder(), env: { ...env, ...more }, encoding: 'utf8' } as const
        const { status, stdout } = spawnSync(shell, args, options)
        return { status, stdout }
      },
      copies: () => readdirSync(folder()).filter((name) => name.endsWith('gz')),
    }
  }

  const endingAt = (place: Place) => (place.MONGODB_URI ? 'ndjson.gz' : 'db.gz')
  const users = (count: number) => Array.from({ length: count }, () => newUser())

  test('the script of the job keeps the latest seven copies, and all when it fails', async () => {
    const place = at(kind)
    const { email } = (await createAt(place, newUser()))[0]!
    const old = Array.from({ length: 9 }, (_, i) => {
      const count = i < 4 ? '' : '-2' // copies of version 2.0.0 have no number
      return `users-2026-01-0${i + 1}T021500Z${count}.${endingAt(place)}`
    })
    const { run, copies, MONGODB_URI_FILE } = job(place, old)
    const nowhere = { DATA_DIR: '/nowhere', MONGODB_URI_FILE: MONGODB_URI_FILE && '/nowhere' }
    expect(run(nowhere)).toMatchObject({ status: 1, stdout: expect.stringContaining('/nowhere') })
    expect(copies()).toEqual(old)
    expect(run().status).toBe(0)
    const name = new RegExp(`^users-2\\d{3}-.*Z-1\\.${endingAt(place)}$`)
    expect(copies()).toEqual([...old.slice(3), expect.stringMatching(name)])
    expect(String(gunzipSync(readFileSync(join(folder(), copies()[6]!))))).toContain(email)
  })

  test('a copy with less than half of the users is kept apart, the job fails, and nothing is deleted', async () => {
    const place = at(kind)
    const created = await createAt(place, ...users(5))
    const old = Array.from({ length: 7 }, (_, i) => {
      return `users-2026-01-0${i + 1}T021500Z-${i < 6 ? 2 : 11}.${endingAt(place)}`
    })
    const { run, copies } = job(place, old)
    const fewer = expect.stringMatching(/^fewer-users-2.*Z-5\./)
    for (const _ of [1, 2]) {
      const stdout = expect.stringContaining('there are 5 users, and the copy before has 11')
      expect(run()).toMatchObject({ status: 3, stdout })
      await sleep(1_000) // the name has the second
    }
    expect(copies()).toEqual([fewer, fewer, ...old])

    renameSync(join(folder(), copies()[0]!), join(folder(), copies()[0]!.replace('fewer-', '')))
    expect(run().status).toBe(0)
    const store = await openStore(place)
    for (const { id } of created) await store.remove(id)
    await store.close()
    expect(run()).toMatchObject({ status: 3, stdout: expect.stringContaining('there are 0 users') })
  })

  test('half of the users, or none in the first copy, is a copy like any other', async () => {
    const place = at(kind)
    await createAt(place)
    expect(job(place, []).run().status).toBe(0)
    await createAt(place, ...users(1_000))
    const { run, copies } = job(place, [`users-2026-01-01T021500Z-2000.${endingAt(place)}`])
    expect(run().status).toBe(0)
    expect(copies().map((name) => /-(\d+)\./.exec(name)![1])).toEqual(['2000', '0', '1000'])
  })
})
