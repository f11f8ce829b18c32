// The script of the job that backs up every night. (Its manifests: k8s.test.ts.)
import { expect, test } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import { runToEnd } from './support/program.ts'
import { newFolder, read, root } from './support/readme.ts'
import { createAt, describeStores } from './support/stores.ts'
import { useTransfers } from './support/transfers.ts'
import { newUser } from './support/users.ts'

const cronjob = read('k8s/components/backup/mongodb/cronjob.yaml')
const [shell, ...args] = parse(cronjob).spec.jobTemplate.spec.template.spec.containers[0].command

describeStores((kind) => {
  const { at, file, folder } = useTransfers()

  test('the script of the job keeps the latest seven copies, and all when it fails', async () => {
    const place = at(kind)
    const { email } = (await createAt(place, newUser()))[0]!
    const bin = newFolder()
    for (const program of ['backup', 'export-users']) {
      const script = `#!/bin/sh\nexec node ${root}dist/scripts/${program}.js "$@"`
      writeFileSync(join(bin, program), script, { mode: 0o755 })
    }
    const ending = place.MONGODB_URI ? '.ndjson.gz' : '.db.gz'
    const old = Array.from({ length: 9 }, (_, i) => `users-2026-01-0${i + 1}T021500Z${ending}`)
    for (const name of old) file(name, '')
    const PATH = `${bin}:${process.env['PATH']}`
    const MONGODB_URI_FILE = place.MONGODB_URI ? file('uri', place.MONGODB_URI) : ''
    const env = { PATH, DATA_DIR: place.DATA_DIR, MONGODB_URI_FILE }
    const run = (more: object) => runToEnd(shell, args, { cwd: folder(), env: { ...env, ...more } })
    const copies = () => runToEnd('ls', [folder()]).match(/^users-.*gz$/gm)!
    const nowhere = { DATA_DIR: '/nowhere', MONGODB_URI_FILE: MONGODB_URI_FILE && '/nowhere' }
    expect(() => run(nowhere)).toThrow('/nowhere')
    expect(copies()).toEqual(old)
    run({})
    expect(copies()).toEqual([...old.slice(3), expect.stringMatching(/^users-\d/)])
    expect(String(gunzipSync(readFileSync(join(folder(), copies()[6]!))))).toContain(email)
  })
})
