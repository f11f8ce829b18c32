// The manifests, rendered as by `kubectl apply -k`.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { readConfig, VARIABLES } from '../src/config.ts'
import { createMetrics } from '../src/telemetry/metrics.ts'
import { runToEnd } from './support/program.ts'
import { SECRET } from './support/stores.ts'

type Any = any // eslint-disable-line -- manifests, of many kinds

const root = fileURLToPath(new URL('../', import.meta.url))
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0

const testKubectl = hasKubectl ? test : test.skip

const render = (folder: string): Any[] =>
  parseAllDocuments(runToEnd('kubectl', ['kustomize', folder])).map((one): Any => one.toJS())

describe.each(['demo', 'production', 'embedded'])('the overlay %s', (overlay) => {
  const isEmbedded = overlay === 'embedded'
  const objects = hasKubectl ? render(`${root}k8s/overlays/${overlay}`) : []

  const all = (kind: string) => objects.filter((object) => object.kind === kind)
  const one = (kind: string) => all(kind).find(({ metadata }) => metadata.name === 'users-service')
  const workloads = () => [...all('Deployment'), ...all('StatefulSet')]
  const pods = () => [...workloads().map(({ spec }) => spec.template), ...all('Pod')]
  const containers = () =>
    pods().flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers])
  const pod = () => one('Deployment').spec.template
  const container = () => pod().spec.containers[0]
  const ports = () => container().ports.map(({ name }: Any) => name)

  const selects = (labels: object, template: Any) =>
    Object.entries(labels).every(([key, value]) => template.metadata.labels[key] === value)
  const selected = (labels: object) => pods().filter((template) => selects(labels, template))

  testKubectl('every selector matches the pods of exactly one workload', () => {
    const selectors = [
      ...workloads().map(({ spec }) => spec.selector.matchLabels),
      ...all('Service').map(({ spec }) => spec.selector),
      ...all('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels),
      ...all('NetworkPolicy').map(({ spec }) => spec.podSelector.matchLabels),
      ...pod().spec.topologySpreadConstraints.map(
        (spread: Any) => spread.labelSelector.matchLabels,
      ),
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
    for (const { port } of ingress.flatMap((rule: Any) => rule.ports))
      expect(ports()).toContain(port)
  })

  testKubectl('every environment variable of the service is there, and no other', () => {
    const { name } = container().envFrom[0].configMapRef
    expect(name).toMatch(/^users-service-\w+$/) // a hash of its content, so that a change restarts the pods
    const { data } = all('ConfigMap').find(({ metadata }) => metadata.name === name)
    const { MONGODB_URI_FILE, SIGNING_SECRETS_FILE, ...rest } = data
    const names = ['MONGODB_URI', 'SIGNING_SECRET', 'SIGNING_SECRETS', ...Object.keys(rest)]
    expect(names.sort()).toEqual(Object.keys(VARIABLES).sort())
    const [{ mountPath }] = container().volumeMounts
    expect(SIGNING_SECRETS_FILE).toBe(`${mountPath}/SIGNING_SECRETS`)
    expect(MONGODB_URI_FILE).toBe(isEmbedded ? '' : `${mountPath}/MONGODB_URI`)
    const config = readConfig({ ...rest, MONGODB_URI: 'mongodb://x', SIGNING_SECRET: SECRET })
    const port = (name: string) =>
      container().ports.find((candidate: Any) => candidate.name === name).containerPort
    const expected = { port: port('http'), opsPort: port('ops'), host: '0.0.0.0' }
    expect(config).toMatchObject(expected)
    const grace = pod().spec.terminationGracePeriodSeconds * 1000
    expect(config.stopDelay).toBeGreaterThan(0)
    expect(config.stopDelay + config.stopTimeout).toBeLessThan(grace)
  })

  testKubectl('there are no secrets in the manifests', () => {
    expect(all('Secret')).toEqual([])
    expect(pod().spec.volumes.slice(0, 1)).toEqual([
      { name: 'secret', secret: { secretName: 'users-service', defaultMode: 0o440 } },
    ])
  })

  testKubectl(
    'the pods meet the Pod Security level restricted, with a read-only file system',
    () => {
      const { namespace } = one('Deployment').metadata
      const own = all('Namespace').find(({ metadata }) => metadata.name === namespace)
      expect(own.metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
      for (const { spec } of pods()) {
        expect(spec.securityContext).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        })
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
    },
  )

  testKubectl('images have a version, and ours has the version of package.json', () => {
    for (const { image } of containers()) expect(image).toMatch(/:\d[\w.-]*$/)
    const ours = containers().filter(({ image }) => image.startsWith('users-service'))
    for (const { image } of ours) expect(image).toBe(`users-service:${version}`)
  })

  testKubectl('every container has requests and limits', () => {
    for (const { resources } of containers()) {
      expect(Object.keys(resources.requests)).toEqual(Object.keys(resources.limits))
      expect(resources.limits).toHaveProperty('memory')
    }
  })

  testKubectl('the service gets no Kubernetes token', () => {
    expect(pod().spec.automountServiceAccountToken).toBe(false)
    expect(one('ServiceAccount').automountServiceAccountToken).toBe(false)
  })

  if (isEmbedded) {
    testKubectl('one pod at a time has the volume, at DATA_DIR', () => {
      expect(one('Deployment').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
      expect(all('HorizontalPodAutoscaler')).toEqual([])
      const [{ metadata, spec }] = all('PersistentVolumeClaim')
      expect(spec.accessModes).toEqual(['ReadWriteOnce'])
      const { name } = pod().spec.volumes.find(
        (volume: Any) => volume.persistentVolumeClaim?.claimName === metadata.name,
      )
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
      expect(from).toEqual([
        {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
          podSelector: { matchLabels: pod().metadata.labels },
        },
      ])
      expect(policy.spec.policyTypes).toEqual(['Ingress', 'Egress'])
      expect(policy.spec.egress).toBeUndefined()
    }
    const out = one('NetworkPolicy').spec.egress.flatMap((rule: Any) => rule.ports)
    expect(out.map(({ port }: Any) => port)).toEqual(isEmbedded ? [53, 53] : [53, 53, 27017])
  })
})

describe('an overlay with all that README.md says one can add', () => {
  const readme = readFileSync(`${root}k8s/README.md`, 'utf8')
  const objects = hasKubectl
    ? renderOverlay([...readme.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => block!))
    : []
  const one = (kind: string, name = 'users-service') =>
    objects.find((object) => object.kind === kind && object.metadata.name === name)

  testKubectl('has the image of the overlay', () => {
    const [{ image }] = one('Deployment').spec.template.spec.containers
    expect(image).toBe('registry.example.com/users-service:2.0.1')
  })

  testKubectl('has the pull secret', () => {
    expect(one('ServiceAccount').imagePullSecrets).toEqual([{ name: 'registry' }])
  })

  testKubectl('watches a port of the pods', () => {
    const { selector, podMetricsEndpoints } = one('PodMonitor').spec
    const { metadata, spec } = one('Deployment').spec.template
    expect(metadata.labels).toMatchObject(selector.matchLabels)
    const ports = spec.containers[0].ports.map(({ name }: Any) => name)
    for (const { port } of podMetricsEndpoints) expect(ports).toContain(port)
  })

  testKubectl('names only metrics, with labels, that /metrics has', async () => {
    const { groups } = one('PrometheusRule').spec
    const rules = groups.flatMap(({ rules }: Any) => rules).map(({ expr }: Any) => expr)
    const dashboard = JSON.parse(one('ConfigMap', 'users-service-dashboard').data['dashboard.json'])
    const panels = dashboard.panels.flatMap(({ targets }: Any) => targets)
    const queries: string[] = [...rules, ...panels.map(({ expr }: Any) => expr)]
    expect(queries.length).toBeGreaterThan(15)

    const known = await exposed()
    for (const query of queries) {
      for (const [, name = '', matchers = ''] of query.matchAll(SELECTOR)) {
        expect([...known.keys()]).toContain(name)
        const labels = [...matchers.matchAll(/(\w+)[=!]/g)].map(([, label]) => label!)
        expect([...known.get(name)!, 'job', 'namespace']).toEqual(expect.arrayContaining(labels))
      }
      const rest = query.replaceAll(SELECTOR, '').replaceAll(/by \(.*?\)|\[.*?\]/g, '')
      expect(FUNCTIONS).toEqual(expect.arrayContaining(rest.match(/[a-z]\w*/g) ?? []))
    }
  })
})

/** `metric{label="value"}` in a query. */
const SELECTOR = /(\w+)\{(.*?)\}/g
/** All other words of the queries. */
const FUNCTIONS = ['absent', 'count', 'histogram_quantile', 'or', 'rate', 'sum', 'vector']

/** The metrics of a service after a request, with their labels; and `up`, which Prometheus adds. */
async function exposed(): Promise<Map<string, string[]>> {
  const metrics = createMetrics(version)
  metrics.requestEnded({ operation: 'readUser', method: 'GET', status: '200' }, 0.1)
  metrics.refused('invalid')
  metrics.storeOperation('find').ended(0.1)
  const { text } = await metrics.expose()
  const samples = [...text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)].map(
    ([, name = '', labels = '']): [string, string[]] => [
      name,
      [...labels.matchAll(/(\w+)=/g)].map(([, label]) => label!),
    ],
  )
  return new Map([...samples, ['up', []]])
}

/** An overlay of production with more in its kustomization.yaml. */
function renderOverlay(more: string[]): Any[] {
  const folder = mkdtempSync(`${root}k8s/overlays/test-`)
  try {
    const lines = ['resources: [../production]', ...more]
    writeFileSync(`${folder}/kustomization.yaml`, lines.join('\n'))
    return render(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
