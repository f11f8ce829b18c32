// What only a cluster would show, in the manifests of every overlay. (As an overlay has them: k8s.long.ts.)
import { expect, test } from '@jest/globals'
import { read, readYaml } from './support/readme.ts'

const specOf = (name: string) => readYaml(`k8s/base/${name}.yaml`).spec
const { metadata, spec: pod } = specOf('deployment').template
const [container] = pod.containers
const secondsOf = (name: string) =>
  Number(RegExp(`^${name}=(\\d+)s$`, 'm').exec(read('k8s/base/config.env'))![1])

test('the probes ask the port for operators: alive, and only for requests also ready', () => {
  const { startupProbe, livenessProbe, readinessProbe } = container
  const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)
  const alive = { path: '/livez', port: 'ops' }
  expect(probes).toEqual([alive, alive, { path: '/readyz', port: 'ops' }])
  expect(readinessProbe.timeoutSeconds).toBeGreaterThan(1) // a pause of a second moves no load
  expect(readinessProbe.failureThreshold).toBeGreaterThan(1)
})

test('the Service leads to the port of the public server', () => {
  const { selector, ports } = specOf('service')
  expect(ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }])
  expect(selector).toEqual(metadata.labels)
  expect(container.ports).toEqual([
    { name: 'http', containerPort: 3000 },
    { name: 'ops', containerPort: 9090 },
  ])
})

test('pods with the label reach the public port, only monitoring that for operators, and nothing else is reached', () => {
  const { podSelector, policyTypes, ingress, egress } = specOf('networkpolicy')
  expect([podSelector.matchLabels, policyTypes]).toEqual([metadata.labels, ['Ingress', 'Egress']])
  const client = { matchLabels: { 'users-service/client': 'true' } }
  const monitoring = { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } }
  expect(ingress).toEqual([
    { from: [{ namespaceSelector: {}, podSelector: client }], ports: [{ port: 'http' }] },
    { from: [{ namespaceSelector: monitoring }], ports: [{ port: 'ops' }] },
  ])
  const dns = [53, 5353].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol })))
  expect(egress).toEqual([{ ports: dns }])
})

test('nobody can change the files of a pod, or get more rights', () => {
  const { privileged, runAsUser, ...context } = {
    ...pod.securityContext,
    ...container.securityContext,
  }
  expect([privileged, runAsUser]).toEqual([undefined, 1000])
  expect(context).toEqual({
    runAsNonRoot: true,
    runAsGroup: 1000,
    fsGroup: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
})

test('an alert compares the oldest user with that of a day before', () => {
  const [{ rules }] = readYaml('k8s/components/monitoring/prometheusrule.yaml').spec.groups
  const { expr } = rules.find(({ alert }: { alert?: string }) => alert === 'UsersServiceUsersLost')
  expect(expr).toContain('[7d] offset 1d)')
})

test('other Services set no variables of the service', () => {
  expect(pod.enableServiceLinks).toBe(false)
})

test('a roll-out and a drained node take no pod before another is ready', () => {
  const { rollingUpdate } = specOf('deployment').strategy
  expect(rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
  expect(specOf('poddisruptionbudget').maxUnavailable).toBe(1)
  expect(specOf('horizontalpodautoscaler').minReplicas).toBeGreaterThan(1)
  expect(specOf('deployment')).not.toHaveProperty('replicas') // the autoscaler's
})

test('a pod has more time to stop than the service takes', () => {
  const [delay, timeout] = ['STOP_DELAY', 'STOP_TIMEOUT'].map(secondsOf)
  expect(delay! + timeout!).toBeLessThan(pod.terminationGracePeriodSeconds)
})

test('the backup of the night compares its users with those of the copy before', () => {
  const job = readYaml('k8s/components/backup/mongodb/cronjob.yaml').spec.jobTemplate.spec
  const [{ command }] = job.template.spec.containers
  expect(command.at(-1)).toContain('\nif [ $((users * 2)) -lt $((before)) ]; then')
  expect(job.podFailurePolicy.rules[0].onExitCodes.values).toEqual([3])
})

test('the memory limit is at least 170 MB and 100 KB for each connection', () => {
  const [, connections] = /^MAX_CONNECTIONS=(\d+)$/m.exec(read('k8s/base/config.env'))!
  const [, mebibytes] = /^(\d+)Mi$/.exec(container.resources.limits.memory)!
  const needed = 170_000_000 + Number(connections) * 100 * 1024
  expect(Number(mebibytes) * 1024 * 1024).toBeGreaterThanOrEqual(needed)
})
