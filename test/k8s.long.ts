// The manifests, rendered as by `kubectl apply -k` (those of all overlays: k8s.test.ts), and the alerts with their sections of the runbook.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dump, load, loadAll } from 'js-yaml'
import { variables } from '../src/config.ts'
import { dial } from './chassis/support/app.ts'
import { until } from './chassis/support/clients.ts'
import { createMetrics, readConfig } from './chassis/support/internals.ts'
import { NAMES, runToEnd } from './support/program.ts'
import { read, readYaml, root, version } from './support/readme.ts'
import { postHead, useService } from './support/service.ts'
import { SECRET, sqlitePlace, useStore } from './support/stores.ts'

type Any = any // eslint-disable-line -- manifests, of many kinds

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
const testKubectl = hasKubectl ? test : test.skip

/** What finds the objects of an overlay with `more` in its kustomization.yaml; without kubectl there are none. */
function render(overlay: string, more: object = {}) {
  const objects = hasKubectl ? kustomize({ resources: [`../${overlay}`], ...more }) : []
  const all = (kind: string) => objects.filter((object) => object.kind === kind)
  const one = (kind: string, name = 'users-service') =>
    all(kind).find(({ metadata }) => metadata.name === name)
  return { all, one }
}

function kustomize(kustomization: object): Any[] {
  const folder = mkdtempSync(`${root}k8s/overlays/test-`)
  try {
    writeFileSync(`${folder}/kustomization.yaml`, dump(kustomization))
    return loadAll(runToEnd('kubectl', ['kustomize', folder]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Also that of OpenShift, which listens on 5353. */
const DNS = [53, 53, 5353, 5353]

describe.each(['demo', 'mongodb', 'sqlite'])('the overlay %s', (overlay) => {
  const isSqlite = overlay === 'sqlite'
  const { all, one } = render(overlay)
  const pods = () => all('Deployment').map(({ spec }) => spec.template)
  const containers = () => pods().flatMap(({ spec }) => spec.containers)
  const pod = () => one('Deployment').spec.template
  const container = () => pod().spec.containers[0]

  testKubectl('every environment variable of the service is there, and no other', () => {
    const { name } = container().envFrom[0].configMapRef
    expect(name).toMatch(/^users-service-\w+$/) // a hash of its content, so that a change restarts the pods
    const { data } = all('ConfigMap').find(({ metadata }) => metadata.name === name)
    const { MONGODB_URI_FILE, SIGNING_SECRETS_FILE, ...rest } = data
    const names = ['MONGODB_URI', 'SIGNING_SECRET', 'SIGNING_SECRETS', ...Object.keys(rest)]
    expect(new Set(names)).toEqual(new Set(NAMES))
    const [{ mountPath }] = container().volumeMounts
    expect(SIGNING_SECRETS_FILE).toBe(`${mountPath}/SIGNING_SECRETS`)
    expect(MONGODB_URI_FILE).toBe(isSqlite ? '' : `${mountPath}/MONGODB_URI`)
    const config = readConfig(
      { ...rest, MONGODB_URI: 'mongodb://x', SIGNING_SECRET: SECRET },
      variables,
    )
    const ports = container().ports.map((port: Any) => [port.name, port.containerPort])
    const { http: PORT, ops: OPS_PORT } = Object.fromEntries(ports)
    expect(config).toMatchObject({ PORT, OPS_PORT, HOST: '::' })
    expect(config.STOP_DELAY > 0).toBe(!isSqlite) // there, no other pod takes over
  })

  testKubectl('no secret is in the manifests, and the service has no Kubernetes token', () => {
    expect(all('Secret')).toEqual([])
    const secret = { secretName: 'users-service', defaultMode: 0o440 }
    expect(pod().spec.volumes[0]).toEqual({ name: 'secret', secret })
    for (const { spec } of pods()) expect(spec.automountServiceAccountToken).toBe(false)
    expect(one('ServiceAccount').automountServiceAccountToken).toBe(false)
  })

  testKubectl('pods meet the Pod Security level restricted, with a read-only file system', () => {
    const [{ metadata }] = all('Namespace')
    expect(metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
    const seccompProfile = { type: 'RuntimeDefault' }
    for (const { spec } of pods())
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile })
    for (const { securityContext } of containers()) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  testKubectl('the image of the service has the version of package.json', () => {
    expect(container().image).toBe(`users-service:${version}`)
  })

  if (isSqlite) {
    testKubectl('one pod at a time has the volume, at DATA_DIR', () => {
      expect(one('Deployment').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
      expect(all('HorizontalPodAutoscaler')).toEqual([])
      const { DATA_DIR: mountPath } = all('ConfigMap')[0].data
      expect(container().volumeMounts).toContainEqual({ name: 'data', mountPath })
    })

    testKubectl(
      'the manifest names all that restore.yaml changes, so that `kubectl apply` undoes it',
      () => {
        const { spec } = readYaml('k8s/overlays/sqlite/restore.yaml').spec.template
        const expectNamed = (changed: object, all: object) =>
          expect(Object.keys(all)).toEqual(expect.arrayContaining(Object.keys(changed)))
        expectNamed(spec, pod().spec)
        expectNamed(spec.containers[0], container())
        expect(read('Dockerfile')).toContain(
          `CMD ${JSON.stringify(container().command)}`.replaceAll(',', ', '),
        )
      },
    )
  }

  testKubectl('the service reaches DNS and MongoDB; the MongoDB of the demo, nothing', () => {
    const [{ from: clients }] = one('NetworkPolicy').spec.ingress // only in the demo from everywhere
    expect(clients === undefined).toBe(overlay === 'demo')
    const out = one('NetworkPolicy').spec.egress.flatMap(({ ports }: Any) => ports)
    expect(out.map(({ port }: Any) => port)).toEqual(isSqlite ? DNS : [...DNS, 27017])
    if (overlay !== 'demo') return
    const { ingress, egress, policyTypes } = one('NetworkPolicy', 'mongodb').spec
    const from = [{ podSelector: { matchLabels: pod().metadata.labels } }]
    expect(ingress).toEqual([{ from, ports: [{ port: 27017 }] }])
    expect([egress, policyTypes]).toEqual([undefined, ['Ingress', 'Egress']])
  })
})

testKubectl.each([
  ['mongodb', 'backup/mongodb'],
  ['sqlite', 'backup/sqlite'],
])('in %s, the job of %s runs as the service, but gets no requests', (overlay, component) => {
  const components = [`../../components/${component}`]
  const { one } = render(overlay, { namespace: 'users', components })
  const service = one('Deployment').spec.template
  const job = one('CronJob', 'users-service-backup').spec.jobTemplate.spec.template
  expect(job.spec.securityContext).toEqual(service.spec.securityContext)
  expect(job.spec.automountServiceAccountToken).toBe(false)
  const [container, main] = [job, service].map(({ spec }) => spec.containers[0])
  for (const key of ['image', 'envFrom', 'securityContext'])
    expect([key, container[key]]).toEqual([key, main[key]])
  expect(container.volumeMounts).toEqual(expect.arrayContaining(main.volumeMounts))

  const [{ key, values }] = one('NetworkPolicy').spec.podSelector.matchExpressions
  expect(values).toEqual([service, job].map(({ metadata }) => metadata.labels[key]))
  expect(one('Service').spec.selector[key]).toBe(values[0])

  if (overlay === 'mongodb') return
  const [{ topologyKey, labelSelector }] =
    job.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution
  expect(topologyKey).toBe('kubernetes.io/hostname')
  expect(service.metadata.labels).toMatchObject(labelSelector.matchLabels) // on the same node
})

describe('the YAML of README.md', () => {
  const readme = read('k8s/README.md')
  const blocks = [...readme.matchAll(/^```yaml\n(.*?)^```$/gms)]
  const contents = blocks.map(([, block]): Any => load(block!))

  test('names the version of package.json, and no other', () => {
    const versions = readme.match(/(?<=newTag: |users-service:|REPOSITORY:)\d\S*/g)
    expect(new Set(versions)).toEqual(new Set([version]))
  })

  testKubectl('all added to an overlay, is rendered', () => {
    const { all } = render('mongodb', Object.assign({}, ...contents))
    expect(all('ConfigMap')[0].data.BASE_PATH).toBe('/api')
  })
})

const [group] = readYaml('k8s/components/monitoring/prometheusrule.yaml').spec.groups
const rules: Any[] = group.rules
const runbook = read('k8s/runbook.md')

test('each alert has a section of the runbook, and each section an alert', () => {
  const [, ...sections] = runbook.split(/^## (?=UsersService)/m)
  const names = sections.map((text) => text.split('\n')[0]!)
  const alerts = rules.filter(({ alert }) => alert)
  expect(alerts.map(({ alert }) => alert)).toEqual(names)
  const urls = alerts.map(({ annotations }) => annotations.runbook_url.split('/runbook.md'))
  const https = expect.stringMatching(/^https:/)
  expect(urls).toEqual(names.map((name) => [https, `#${name.toLowerCase()}`]))
  for (const text of sections) {
    const parts = [...text.matchAll(/^\*\*(.*?)\*\*/gm)].map(([, part]) => part)
    expect(parts.slice(0, 2)).toEqual(['The cause:', 'What to do:'])
  }
})

test('alerts and the runbook name only metrics, with labels, that /metrics has, or Kubernetes', async () => {
  const queries = rules.map(({ expr }) => expr as string)
  for (const [, query] of runbook.matchAll(/^```promql\n(.*?)^```$/gms)) queries.push(query!)
  expect(queries.length).toBeGreaterThan(15)
  const known = await exposed()
  for (const { record } of rules) known.set(record, [])
  for (const [, name = '', matchers = ''] of queries.join('\n').matchAll(/([\w:]+)\{(.*?)\}/gs)) {
    if (name.startsWith('kube')) continue
    expect([...known.keys()]).toContain(name)
    const labels = [...matchers.matchAll(/(\w+)[=!]/g)].map(([, label]) => label!)
    expect([...known.get(name)!, 'job', 'namespace']).toEqual(expect.arrayContaining(labels))
  }
})

const service = useService(useStore(sqlitePlace))

test('the runbook counts requests by address, operation and status', async () => {
  for (let i = 0; i < 3; i += 1) await service().send('GET /users')
  await service().exchange('nonsense\r\n\r\n')
  const { socket } = dial(service().port)
  socket.write(postHead('Content-Length: 9\r\nExpect: 100-continue\r\n'))
  await once(socket, 'data')
  socket.destroy()
  await until(() => service().lines.length === 5)
  const input = service().lines.map((line) => JSON.stringify(line))
  const [count] = /(?<=^```sh\n)sed .*? head$/ms.exec(runbook)!
  const options = { input: ['no JSON', ...input].join('\n') }
  const counts = runToEnd('sh', ['-c', count.replace('service.log', '')], options)
  expect(counts).toMatch(
    /^ *3 127.0.0.1 listUsers 200\n *1 127.0.0.1 createUser left\n *1 127.0.0.1 {2}400\n$/,
  )
})

/** The metrics of a service after a request, with their labels; and `up`, which Prometheus adds. */
async function exposed(): Promise<Map<string, string[]>> {
  const metrics = createMetrics('users_service', version)
  metrics.requestEnded({ operation: 'readUser', method: 'GET', status: '200' }, 0.1)
  metrics.refused('invalid')
  metrics.handlerAbandoned('readUser')
  metrics.storeIs('SQLite in /data/users.db')
  await metrics.storeOperation('find')(async () => {}, {}, [])
  const { text } = await metrics.expose()
  const samples = new Map<string, string[]>([['up', []]])
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const names = [...labels.matchAll(/(\w+)=/g)].map(([, label]) => label!)
    samples.set(name, names)
  }
  return samples
}
