// The components that back up every night: their manifests, and the script of their job.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'
import { openStore } from '../src/store/open.ts'
import { runToEnd } from './support/program.ts'
import { root } from './support/readme.ts'
import { describeMongodb, mongodbPlace, sqlitePlace, type Place } from './support/stores.ts'
import { useTransfers } from './support/transfers.ts'
import { newUser } from './support/users.ts'

type Any = any // eslint-disable-line -- manifests, of many kinds

const testKubectl = spawnSync('kubectl', ['version', '--client']).status === 0 ? test : test.skip
const { at, file, folder } = useTransfers()

/** The pods of the service and of the job, and all objects, of an overlay with a component. */
function render(overlay: string, component: string) {
  const test = mkdtempSync(`${root}k8s/overlays/test-`)
  const lines = `namespace: users\nresources: [../${overlay}]\ncomponents: [../../components/${component}]`
  writeFileSync(`${test}/kustomization.yaml`, lines)
  const documents = parseAllDocuments(runToEnd('kubectl', ['kustomize', test]))
  rmSync(test, { recursive: true })
  const objects = documents.map((document): Any => document.toJS())
  const one = (kind: string, name = 'users-service') =>
    objects.find((object) => object.kind === kind && object.metadata.name === name)
  const job = one('CronJob', 'users-service-backup').spec.jobTemplate.spec.template
  return { one, service: one('Deployment').spec.template, job }
}

const some = (object: Any, keys: string[]) => keys.map((key) => [key, object[key]])

testKubectl.each([
  ['production', 'backup/mongodb'],
  ['embedded', 'backup/sqlite'],
])('in %s, the job of %s runs as the service does, but gets no requests', (overlay, component) => {
  const { one, service, job } = render(overlay, component)
  const ofPod = ['securityContext', 'serviceAccountName', 'automountServiceAccountToken']
  expect(some(job.spec, ofPod)).toEqual(some(service.spec, ofPod))
  const [container, main] = [job, service].map(({ spec }) => spec.containers[0])
  const ofContainer = ['image', 'imagePullPolicy', 'envFrom', 'securityContext', 'resources']
  expect(some(container, ofContainer)).toEqual(some(main, ofContainer))

  const claim = { claimName: one('PersistentVolumeClaim', 'users-service-backup').metadata.name }
  const volumes = [...service.spec.volumes, { name: 'backup', persistentVolumeClaim: claim }]
  const mounts = [...main.volumeMounts, { name: 'backup', mountPath: container.workingDir }]
  expect(new Set(job.spec.volumes)).toEqual(new Set(volumes))
  expect(new Set(container.volumeMounts)).toEqual(new Set(mounts))

  const [{ key, values }] = one('NetworkPolicy').spec.podSelector.matchExpressions
  expect(values).toEqual([service, job].map(({ metadata }) => metadata.labels[key]))
  expect(one('Service').spec.selector[key]).toBe(values[0])
})

testKubectl('the job of backup/sqlite runs on the node of the service', () => {
  const { service, job } = render('embedded', 'backup/sqlite')
  const [{ topologyKey, labelSelector }] =
    job.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution
  expect(topologyKey).toBe('kubernetes.io/hostname')
  expect(service.metadata.labels).toMatchObject(labelSelector.matchLabels)
})

describe('the script of the job keeps the latest seven copies', () => {
  async function expectCopies(place: Place, bin: string, uri: string, ending: string) {
    const store = await openStore(place)
    const { email } = await store.create(newUser())
    await store.close()
    for (const program of ['backup', 'export-users']) {
      const script = `#!/bin/sh\nexec node ${root}dist/scripts/${program}.js "$@"`
      writeFileSync(join(bin, program), script, { mode: 0o755 })
    }
    const old = Array.from({ length: 9 }, (_, i) => `users-2026-01-0${i + 1}T021500Z${ending}`)
    for (const name of old) file(name, '')
    const [shell, ...args] = render('embedded', 'backup/sqlite').job.spec.containers[0].command
    const PATH = `${bin}:${process.env['PATH']}`
    const env = { PATH, DATA_DIR: place.dataDir, MONGODB_URI_FILE: uri }
    runToEnd(shell, args, { cwd: folder(), env })
    const copies = readdirSync(folder()).filter((name) => name.endsWith(ending))
    expect(copies.toSorted()).toEqual([...old.slice(3), expect.stringMatching(/^users-\d/)])
    const latest = readFileSync(join(folder(), copies.toSorted()[6]!))
    expect(String(gunzipSync(latest))).toContain(email)
  }

  testKubectl('of SQLite', async () => {
    const place = at(sqlitePlace)
    await expectCopies(place, place.dataDir, '', '.db.gz')
  })

  describeMongodb('of MongoDB', () => {
    testKubectl('as exports', async () => {
      const place = at(mongodbPlace)
      const bin = mkdtempSync(join(folder(), 'bin-'))
      await expectCopies(place, bin, file('uri', place.mongodbUri!), '.ndjson.gz')
    })
  })
})
