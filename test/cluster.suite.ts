// The demo overlay on a real cluster, that of KUBECONFIG. Not part of `npm test`: npm run test:cluster
// builds the image, and makes it known to the cluster with LOAD_IMAGE or `kind load docker-image`.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { root, version } from './support/readme.ts'

const IMAGE = `users-service:${version}`
const NAMESPACE = 'users-demo'

function kubectl(args: string[], input?: object): string {
  const all = ['--namespace', NAMESPACE, ...args]
  const given = { input: JSON.stringify(input), cwd: root, stdio: 'pipe' } as const
  return execFileSync('kubectl', all, given).toString().trim()
}

beforeAll(async () => {
  const [load = '', ...more] = (process.env['LOAD_IMAGE'] ?? 'kind load docker-image').split(' ')
  execFileSync(load, [...more, IMAGE], { cwd: root })
  kubectl(['apply', '-f', 'k8s/overlays/demo/namespace.yaml'])
  const secret = { SIGNING_SECRETS: 'x'.repeat(32), MONGODB_URI: 'mongodb://mongodb/users' }
  const metadata = { name: 'users-service' }
  kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'Secret', metadata, stringData: secret })
  kubectl(['apply', '-k', 'k8s/overlays/demo'])
  kubectl(['rollout', 'status', 'deployment/users-service', '--timeout=300s'])
  while (readyPods().length < 2) await sleep(500) // the autoscaler's two
}, 660_000)

afterAll(() => {
  kubectl(['delete', '-k', 'k8s/overlays/demo', '--wait=true'])
}, 300_000)

interface Pod {
  metadata: { name: string; deletionTimestamp?: string }
  status: { conditions?: { type: string; status: string }[] }
}

const pods = (output: string) =>
  kubectl(['get', 'pods', '-l', 'app.kubernetes.io/name=users-service', '-o', output])

function readyPods(): string[] {
  const { items } = JSON.parse(pods('json')) as { items: Pod[] }
  const isReady = ({ metadata, status }: Pod) =>
    !metadata.deletionTimestamp &&
    status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
  return items.filter(isReady).map(({ metadata }) => metadata.name)
}

/** Runs a program in a pod of its own. @returns ends with what it printed */
function runPod(name: string, program: string): () => Promise<string> {
  const command = ['node', '--input-type=module', '--eval', program]
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  const imagePullPolicy = 'IfNotPresent'
  const seccompProfile = { type: 'RuntimeDefault' }
  kubectl(['apply', '-f', '-'], {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile },
      containers: [{ name, image: IMAGE, imagePullPolicy, command, securityContext }],
    },
  })
  const phase = () => kubectl(['get', 'pod', name, '-o', 'jsonpath={.status.phase}'])
  return async () => {
    while (['Pending', 'Running'].includes(phase())) await sleep(500)
    const printed = kubectl(['logs', name])
    if (phase() === 'Failed') throw new Error(printed)
    return printed
  }
}

const CALL = `
  const call = async (method, path, token, body) => {
    const headers = { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' }
    const response = await fetch('http://users-service' + path, {
      method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(10_000),
    })
    const text = await response.text()
    return { status: response.status, json: text && JSON.parse(text) }
  }
  const { json: { token } } = await call('POST', '/login', '', { email: 'ada@example.com' })
`

/** Eight clients over connections kept alive, for so many seconds; a failed request is named. */
const load = (seconds: number) => `${CALL}
  const [end, failed, created] = [Date.now() + ${seconds * 1000}, [], []]
  let sent = 0
  const attempt = async (wanted, ...request) => {
    sent += 1
    const { status, json } = await call(...request).catch((error) => ({ status: String(error.cause ?? error) }))
    if (status !== wanted) failed.push(new Date().toISOString() + ' ' + request.slice(0, 2) + ' ' + status)
    return json
  }
  const client = async () => {
    while (Date.now() < end) {
      const user = await attempt(201, 'POST', '/users', token, { name: 'x' })
      if (user?.id) created.push(user.id)
      for (let i = 0; i < 5 && user?.id; i += 1) await attempt(200, 'GET', '/users/' + user.id, token)
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  const ids = new Set((await call('GET', '/users', token)).json.map(({ id }) => id))
  console.log(JSON.stringify({ sent, failed, lost: created.filter((id) => !ids.has(id)).length }))
`

test('the first user is created, and every operation works through the Service', async () => {
  const script = 'create-user --name Ada --email ada@example.com'
  const made = kubectl(['exec', 'deployment/users-service', '--', ...script.split(' ')])
  expect(JSON.parse(made.split('\n')[0]!)).toMatchObject({ name: 'Ada' })
  const walk = `${CALL}
    const user = (await call('POST', '/users', token, { name: 'Grace', email: 'grace@example.com' })).json
    const statuses = []
    for (const request of [
      ['GET', '/users', token],
      ['GET', '/users/' + user.id, token],
      ['PUT', '/users/' + user.id, token, { name: 'Grace Hopper' }],
      ['DELETE', '/users/' + user.id, token],
      ['GET', '/users/' + user.id, token],
      ['GET', '/users', 'none'],
      ['GET', '/docs', ''],
    ]) statuses.push((await call(...request).catch(() => ({ status: 'no JSON' }))).status)
    console.log(statuses.join())`
  expect(await runPod('walk', walk)()).toBe('200,200,204,204,404,401,no JSON')
}, 120_000)

test('a rolling restart under load fails no request, and loses no user', async () => {
  const ended = runPod('restart', load(50))
  await sleep(5_000)
  kubectl(['rollout', 'restart', 'deployment/users-service'])
  kubectl(['rollout', 'status', 'deployment/users-service', '--timeout=120s'])
  const { sent, failed, lost } = JSON.parse(await ended())
  console.log(`rolling restart: ${sent} requests, ${failed.length} failed, ${lost} users lost`)
  expect({ failed, lost }).toEqual({ failed: [], lost: 0 })
  expect(sent).toBeGreaterThan(100)
}, 240_000)

test('an eviction under load fails no request', async () => {
  const ended = runPod('eviction', load(30))
  await sleep(5_000)
  const [name = ''] = readyPods()
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`
  const metadata = { name, namespace: NAMESPACE }
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata }
  kubectl(['create', '--raw', path, '-f', '-'], eviction)
  const { failed, lost } = JSON.parse(await ended())
  expect({ failed, lost }).toEqual({ failed: [], lost: 0 })
}, 180_000)

test('while MongoDB is away, clients get 500, no pod becomes unready or is restarted, and afterwards requests succeed', async () => {
  while (readyPods().length < 2) await sleep(500)
  const ended = runPod('outage', load(60))
  await sleep(5_000)
  kubectl(['scale', 'deployment/mongodb', '--replicas=0'])
  kubectl(['delete', 'pod', '-l', 'app.kubernetes.io/name=mongodb', '--grace-period=0', '--force'])
  for (const end = Date.now() + 15_000; Date.now() < end; await sleep(500))
    expect(readyPods().length).toBeGreaterThanOrEqual(2)
  kubectl(['scale', 'deployment/mongodb', '--replicas=1'])
  const { failed } = JSON.parse(await ended()) as { failed: string[] }
  const statuses = new Set(failed.map((line) => line.split(' ').at(-1)))
  expect(statuses).toContain('500')
  statuses.delete('404') // users of before are gone with the pod
  expect(statuses.size).toBe(1)
  const restarts = pods('jsonpath={.items[*].status.containerStatuses[0].restartCount}')
  expect(restarts).toMatch(/^0( 0)+$/)
}, 180_000)
