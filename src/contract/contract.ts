// openapi.yaml, parsed by the build: the document and its operations. Adds nothing to the document.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { operations } from './openapi.ts'

export type OperationId = keyof operations

/** One operation of the contract: what routing, reading and writing need. */
export interface Operation {
  id: OperationId
  /** In lower case. */
  method: string
  /** The path template, e.g. `/users/{id}` (OpenAPI 3.0.3, Paths Object). */
  path: string
  /** The media types of its request body, none if it takes no body, and the schema of the first. */
  mediaTypes: string[]
  bodySchema: { required?: string[]; [keyword: string]: unknown }
  parameters: Parameter[]
  /** The media types of each response by its status, the default first. */
  responseTypes: Record<string, string[]>
}

/** A Parameter Object (OpenAPI 3.0.3). */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: { type?: string }
}

type Ref<T> = T | { $ref: string }

interface PathItem {
  parameters?: Ref<Parameter>[]
  [methodOrText: string]: unknown
}

interface OperationObject {
  operationId: OperationId
  parameters?: Ref<Parameter>[]
  requestBody?: Ref<{ content: Record<string, { schema: Ref<Operation['bodySchema']> }> }>
  responses: Record<string, Ref<{ content?: Record<string, unknown> }>>
}

export interface OpenApi {
  /** Its version is that of the service: `npm version` changes both. */
  info: { title: string; version: string }
  paths: Record<string, Ref<PathItem>>
}

const file = fileURLToPath(import.meta.resolve('#openapi.json'))

export const contract = JSON.parse(readFileSync(file, 'utf8')) as OpenApi

/** The path of an operation with its parameters filled in, e.g. `/users/665f…`. */
export function pathOf(id: OperationId, parameters: Record<string, string> = {}): string {
  return operationOf(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '')
}

export const operationOf = (id: OperationId): Operation =>
  contractOperations.find((operation) => operation.id === id)!

export const contractOperations = operationsOf(contract)

/** The operations of `document`. References outside schemas are followed. @throws Error one leads nowhere */
export function operationsOf(document: OpenApi): Operation[] {
  const follow = <T extends object>(node: Ref<T>): T => resolve(document, node)

  function operationAt(path: string, method: string, item: PathItem): Operation {
    const { operationId: id, parameters = [], ...object } = item[method] as OperationObject
    const { content } = follow(object.requestBody ?? { content: {} })
    const all = [...(item.parameters ?? []), ...parameters].map(follow)
    const unique = new Map(all.map((one) => [`${one.in} ${one.name}`, one])) // those of the operation win
    const responses = Object.entries(object.responses)
    return {
      id,
      method,
      path,
      mediaTypes: Object.keys(content),
      bodySchema: follow(Object.values(content)[0]?.schema ?? {}),
      parameters: [...unique.values()].map((one) => ({ ...one, schema: follow(one.schema) })),
      responseTypes: Object.fromEntries(
        responses.map(([status, one]) => [status, Object.keys(follow(one).content ?? {})]),
      ),
    }
  }

  return Object.entries(document.paths).flatMap(([path, reference]) => {
    const item = follow(reference)
    return Object.keys(item)
      .filter((key) => 'operationId' in Object(item[key])) // a path item also has parameters
      .map((method) => operationAt(path, method, item))
  })
}

/** What a reference points to (RFC 6901); anything else as it is. */
function resolve<T extends object>(document: OpenApi, node: Ref<T>): T {
  if (!('$ref' in node)) return node
  const [root, ...keys] = decodeURIComponent(node.$ref).split('/')
  const target = keys
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, key) => Object(at)[key], root === '#' && document)
  if (!target) throw new Error(`openapi.yaml has nothing at ${node.$ref}`)
  return resolve(document, target as Ref<T>)
}
