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
  while (readyReplicas() < 2) await sleep(500) // the autoscaler's two
}, 660_000)

afterAll(() => {
  kubectl(['delete', '-k', 'k8s/overlays/demo', '--wait=true'])
}, 300_000)

const readyReplicas = () =>
  Number(kubectl(['get', 'deployment/users-service', '-o', 'jsonpath={.status.readyReplicas}']))

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

/** Eight clients over connections kept alive, for 50 s; a failed request is named. */
const LOAD = `
  const call = async (method, path, token, body) => {
    const headers = { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' }
    const response = await fetch('http://users-service' + path, {
      method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(10_000),
    })
    const text = await response.text()
    return { status: response.status, json: text && JSON.parse(text) }
  }
  const { json: { token } } = await call('POST', '/login', '', { email: 'ada@example.com' })
  const [end, failed, created] = [Date.now() + 50_000, [], []]
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

test('the first user is created; a rolling restart under load fails no request, and loses no user', async () => {
  const script = 'create-user --name Ada --email ada@example.com'
  const made = kubectl(['exec', 'deployment/users-service', '--', ...script.split(' ')])
  expect(JSON.parse(made.split('\n')[0]!)).toMatchObject({ name: 'Ada' })
  const ended = runPod('restart', LOAD)
  await sleep(5_000)
  kubectl(['rollout', 'restart', 'deployment/users-service'])
  kubectl(['rollout', 'status', 'deployment/users-service', '--timeout=120s'])
  const { sent, failed, lost } = JSON.parse(await ended())
  console.log(`rolling restart: ${sent} requests, ${failed.length} failed, ${lost} users lost`)
  expect({ failed, lost }).toEqual({ failed: [], lost: 0 })
  expect(sent).toBeGreaterThan(100)
}, 240_000)
