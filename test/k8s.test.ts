// The manifests, rendered as by `kubectl apply -k`.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { readConfig, VARIABLES } from '../src/config.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { runToEnd } from './support/program.ts'
import { root, version } from './support/readme.ts'
import { SECRET } from './support/stores.ts'

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
    writeFileSync(`${folder}/kustomization.yaml`, stringify(kustomization))
    const documents = parseAllDocuments(runToEnd('kubectl', ['kustomize', folder]))
    return documents.map((document): Any => document.toJS())
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe.each(['demo', 'production', 'embedded'])('the overlay %s', (overlay) => {
  const isEmbedded = overlay === 'embedded'
  const { all, one } = render(overlay)
  const workloads = () => [...all('Deployment'), ...all('StatefulSet')]
  const pods = () => [...workloads().map(({ spec }) => spec.template), ...all('Pod')]
  const containers = () =>
    pods().flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers])
  const pod = () => one('Deployment').spec.template
  const container = () => pod().spec.containers[0]

  const selects = (labels: object, template: Any) =>
    Object.entries(labels).every(([key, value]) => template.metadata.labels[key] === value)
  const selected = (labels: object) => pods().filter((template) => selects(labels, template))

  testKubectl('every selector matches the pods of exactly one workload', () => {
    const selectors = [
      ...workloads().map(({ spec }) => spec.selector.matchLabels),
      ...all('Service').map(({ spec }) => spec.selector),
      ...all('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels),
      ...all('NetworkPolicy').map(({ spec }) => spec.podSelector.matchLabels),
      ...pod().spec.topologySpreadConstraints.map((one: Any) => one.labelSelector.matchLabels),
    ]
    expect(selectors.length).toBeGreaterThan(5)
    for (const labels of selectors) expect([labels, selected(labels).length]).toEqual([labels, 1])
  })

  testKubectl('every port that is named exists', () => {
    for (const service of all('Service')) {
      const [template] = selected(service.spec.selector)
      const names = template.spec.containers[0].ports.map(({ name }: Any) => name)
      for (const { targetPort } of service.spec.ports) expect(names).toContain(targetPort)
    }
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      expect([probe, container()[probe].httpGet.port]).toEqual([probe, 'ops'])
    }
    const { ingress } = one('NetworkPolicy').spec
    const open = ingress.flatMap((rule: Any) => rule.ports).map(({ port }: Any) => port)
    for (const name of open)
      expect(container().ports).toContainEqual(expect.objectContaining({ name }))
  })

  testKubectl('every environment variable of the service is there, and no other', () => {
    const { name } = container().envFrom[0].configMapRef
    expect(name).toMatch(/^users-service-\w+$/) // a hash of its content, so that a change restarts the pods
    const { data } = all('ConfigMap').find(({ metadata }) => metadata.name === name)
    const { MONGODB_URI_FILE, SIGNING_SECRETS_FILE, ...rest } = data
    const names = ['MONGODB_URI', 'SIGNING_SECRET', 'SIGNING_SECRETS', ...Object.keys(rest)]
    expect(new Set(names)).toEqual(new Set(Object.keys(VARIABLES)))
    const [{ mountPath }] = container().volumeMounts
    expect(SIGNING_SECRETS_FILE).toBe(`${mountPath}/SIGNING_SECRETS`)
    expect(MONGODB_URI_FILE).toBe(isEmbedded ? '' : `${mountPath}/MONGODB_URI`)
    const config = readConfig({ ...rest, MONGODB_URI: 'mongodb://x', SIGNING_SECRET: SECRET })
    const ports = container().ports.map((port: Any) => [port.name, port.containerPort])
    const { http: PORT, ops: OPS_PORT } = Object.fromEntries(ports)
    expect(config).toMatchObject({ PORT, OPS_PORT, HOST: '0.0.0.0' })
    const grace = pod().spec.terminationGracePeriodSeconds * 1000
    expect(config.STOP_DELAY).toBeGreaterThan(0)
    expect(config.STOP_DELAY + config.STOP_TIMEOUT).toBeLessThan(grace)
  })

  testKubectl('no secret is in the manifests, and the service has no Kubernetes token', () => {
    expect(all('Secret')).toEqual([])
    const secret = { secretName: 'users-service', defaultMode: 0o440 }
    expect(pod().spec.volumes[0]).toEqual({ name: 'secret', secret })
    expect(pod().spec.automountServiceAccountToken).toBe(false)
    expect(one('ServiceAccount').automountServiceAccountToken).toBe(false)
  })

  testKubectl('pods meet the Pod Security level restricted, with a read-only file system', () => {
    const { namespace } = one('Deployment').metadata
    const own = all('Namespace').find(({ metadata }) => metadata.name === namespace)
    expect(own.metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
    for (const { spec } of pods()) {
      const seccompProfile = { type: 'RuntimeDefault' }
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile })
    }
    for (const { name, securityContext } of containers()) {
      const root = { runAsNonRoot: false, runAsUser: 0 }
      const own = name === 'own-the-volume' // of the demo's MongoDB, in a namespace of its own
      expect(securityContext).toEqual({
        ...(own && root),
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'], ...(own && { add: ['CHOWN'] }) },
      })
    }
  })

  testKubectl('containers have requests, limits and a version, ours that of package.json', () => {
    for (const { image, resources } of containers()) {
      expect(image).toMatch(/:\d[\w.-]*$/)
      if (image.startsWith('users-service')) expect(image).toBe(`users-service:${version}`)
      expect(Object.keys(resources.requests)).toEqual(Object.keys(resources.limits))
      expect(resources.limits).toHaveProperty('memory')
    }
  })

  if (isEmbedded) {
    testKubectl('one pod at a time has the volume, at DATA_DIR', () => {
      expect(one('Deployment').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
      expect(all('HorizontalPodAutoscaler')).toEqual([])
      const [{ metadata, spec }] = all('PersistentVolumeClaim')
      expect(spec.accessModes).toEqual(['ReadWriteOnce'])
      const isOurs = (volume: Any) => volume.persistentVolumeClaim?.claimName === metadata.name
      const { name } = pod().spec.volumes.find(isOurs)
      const { mountPath } = container().volumeMounts.find((mount: Any) => mount.name === name)
      expect(mountPath).toBe(all('ConfigMap')[0].data.DATA_DIR)
      expect(pod().spec.securityContext.fsGroup).toBe(pod().spec.securityContext.runAsGroup)
    })
  } else {
    testKubectl('a roll-out or an eviction never removes the last pod', () => {
      const { rollingUpdate } = one('Deployment').spec.strategy
      expect(rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
      const { minReplicas, scaleTargetRef } = one('HorizontalPodAutoscaler').spec
      expect(minReplicas).toBeGreaterThanOrEqual(2)
      expect(scaleTargetRef.name).toBe(one('Deployment').metadata.name)
      expect(one('Deployment').spec).not.toHaveProperty('replicas') // the autoscaler's
      expect(one('PodDisruptionBudget').spec.maxUnavailable).toBe(1)
    })
  }

  testKubectl('egress allows DNS; ingress allows pods with the label, or any in the demo', () => {
    const { ingress, egress } = one('NetworkPolicy').spec
    const peers = [...egress, ...ingress].flatMap(({ to = [], from = to }: Any) => from)
    const labels = peers.map(({ podSelector }: Any) => podSelector?.matchLabels)
    expect(labels).toContainEqual({ 'k8s-app': 'kube-dns' })
    if (overlay === 'demo') expect(ingress[0]).not.toHaveProperty('from')
    else expect(labels).toContainEqual({ 'users-service/client': 'true' })
  })

  testKubectl('only the service can reach MongoDB', () => {
    for (const policy of all('NetworkPolicy')) {
      if (policy.metadata.name !== 'mongodb') continue
      const from = policy.spec.ingress.flatMap((rule: Any) => rule.from)
      const name = one('Deployment').metadata.namespace
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': name } }
      const podSelector = { matchLabels: pod().metadata.labels }
      expect(from).toEqual([{ namespaceSelector, podSelector }])
      expect(policy.spec.policyTypes).toEqual(['Ingress', 'Egress'])
      expect(policy.spec.egress).toBeUndefined()
    }
    const out = one('NetworkPolicy').spec.egress.flatMap((rule: Any) => rule.ports)
    expect(out.map(({ port }: Any) => port)).toEqual(isEmbedded ? [53, 53] : [53, 53, 27017])
  })
})

testKubectl.each([
  ['production', 'backup/mongodb'],
  ['embedded', 'backup/sqlite'],
])('in %s, the job of %s runs as the service, but gets no requests', (overlay, component) => {
  const components = [`../../components/${component}`]
  const { one } = render(overlay, { namespace: 'users', components })
  const service = one('Deployment').spec.template
  const job = one('CronJob', 'users-service-backup').spec.jobTemplate.spec.template
  const some = (object: Any, keys: string[]) => keys.map((key) => [key, object[key]])
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

  if (overlay === 'production') return
  const [{ topologyKey, labelSelector }] =
    job.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution
  expect(topologyKey).toBe('kubernetes.io/hostname')
  expect(service.metadata.labels).toMatchObject(labelSelector.matchLabels) // on the same node
})

describe('an overlay with all that README.md says one can add', () => {
  const readme = readFileSync(`${root}k8s/README.md`, 'utf8')
  const more: Record<string, Any[]> = {}
  const routes: Any[] = []
  for (const [, block] of readme.matchAll(/^```yaml\n(.*?)^```$/gms)) {
    const content: Any = parse(block!)
    if (content.kind) routes.push(content)
    const added: [string, Any[]][] = content.kind ? [] : Object.entries(content)
    for (const [key, list] of added) more[key] = [...(more[key] ?? []), ...list]
  }
  const { one } = render('production', more)

  testKubectl('has the image of the overlay, and the pull secret', () => {
    const [{ image }] = one('Deployment').spec.template.spec.containers
    expect(image).toBe('registry.example.com/users-service:2.0.1')
    expect(one('ServiceAccount').imagePullSecrets).toEqual([{ name: 'registry' }])
  })

  testKubectl('leads to the service at its base path, by an Ingress and by a Gateway', () => {
    const { data } = one(
      'ConfigMap',
      one('Deployment').spec.template.spec.containers[0].envFrom[0].configMapRef.name,
    )
    const [{ name, port }] = one('Service').spec.ports
    const [ingress, route] = routes.map(({ spec }) => spec.rules[0])
    const service = { name: 'users-service', port: { name } }
    const [path] = ingress.http.paths
    expect(path).toEqual({ path: data.BASE_PATH, pathType: 'Prefix', backend: { service } })
    const match = { path: { type: 'PathPrefix', value: data.BASE_PATH } }
    const backendRefs = [{ name: 'users-service', port }]
    expect(route).toEqual({ matches: [match], backendRefs })
    for (const { metadata } of routes)
      expect(metadata.namespace).toBe(one('Service').metadata.namespace)
  })

  testKubectl('has the clients that it names, and the address of its own runbook', () => {
    const [{ from }] = one('NetworkPolicy').spec.ingress
    expect(JSON.stringify(from)).toMatch(/"shop","billing".*"users-service\/client":"true"/)
    const { metadata, spec } = one('PrometheusRule')
    const urls = JSON.stringify(spec).match(/(?<="runbook_url":").*?(?=#)/g)
    expect(new Set(urls)).toEqual(new Set([metadata.annotations.runbook]))
  })

  testKubectl('watches a port of the pods', () => {
    const { selector, podMetricsEndpoints } = one('PodMonitor').spec
    const { metadata, spec } = one('Deployment').spec.template
    expect(metadata.labels).toMatchObject(selector.matchLabels)
    const ports = spec.containers[0].ports.map(({ name }: Any) => name)
    for (const { port } of podMetricsEndpoints) expect(ports).toContain(port)
  })

  testKubectl('names only metrics, with labels, that /metrics has, or Kubernetes', async () => {
    const [{ rules }] = one('PrometheusRule').spec.groups
    const dashboard = JSON.parse(one('ConfigMap', 'users-service-dashboard').data['dashboard.json'])
    const panels = dashboard.panels.flatMap(({ targets }: Any) => targets)
    const runbook = readFileSync(`${root}k8s/runbook.md`, 'utf8')
    const queries: string[] = [...rules, ...panels].map(({ expr }: Any) => expr)
    for (const [, query] of runbook.matchAll(/^```promql\n(.*?)^```$/gms)) queries.push(query!)
    expect(queries.length).toBeGreaterThan(30)

    const known = await exposed()
    for (const { record } of rules) known.set(record, [])
    for (const query of queries) {
      for (const [, name = '', matchers = ''] of query.matchAll(SELECTOR)) {
        if (/^(kube|ALERTS)/.test(name)) continue
        expect([...known.keys()]).toContain(name)
        const labels = [...matchers.matchAll(/(\w+)[=!]/g)].map(([, label]) => label!)
        expect([...known.get(name)!, 'job', 'namespace']).toEqual(expect.arrayContaining(labels))
      }
      const rest = query.replaceAll(SELECTOR, '').replaceAll(/by \(.*?\)|\[.*?\]/g, '')
      const words = rest.match(/[a-z][\w:]*/g) ?? []
      expect([...FUNCTIONS, ...OVER_TIME, ...known.keys()]).toEqual(expect.arrayContaining(words))
    }
  })
})

/** `metric{label="value"}` in a query. */
const SELECTOR = /([\w:]+)\{(.*?)\}/g
/** All other words of the queries. */
const FUNCTIONS = 'and or unless vector count max rate increase sum time'.split(' ')
const OVER_TIME = 'count_over_time present_over_time max_over_time histogram_quantile'.split(' ')

/** The metrics of a service after a request, with their labels; and `up`, which Prometheus adds. */
async function exposed(): Promise<Map<string, string[]>> {
  const metrics = createMetrics('users_service', version)
  metrics.requestEnded({ operation: 'readUser', method: 'GET', status: '200' }, 0.1)
  metrics.refused('invalid')
  metrics.storeOperation('find').ended(0.1)
  const { text } = await metrics.expose()
  const samples = new Map<string, string[]>([['up', []]])
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const names = [...labels.matchAll(/(\w+)=/g)].map(([, label]) => label!)
    samples.set(name, names)
  }
  return samples
}
