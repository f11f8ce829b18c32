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
  /** The path template, e.g. `/notes/{id}` (OpenAPI 3.0.3, Paths Object). */
  path: string
  /** The schema of its request body, which is JSON; none if it takes no body. */
  bodySchema: BodySchema | undefined
  parameters: Parameter[]
  /** The media types of each response by its status, the default first. */
  responseTypes: Record<string, string[]>
}

interface BodySchema {
  required?: string[]
  [keyword: string]: unknown
}

/** A Parameter Object (OpenAPI 3.0.3). */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
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
  requestBody?: Ref<{ content: { 'application/json': { schema: Ref<BodySchema> } } }>
  responses: Record<string, Ref<{ content?: Record<string, unknown> }>>
}

export interface OpenApi {
  /** Its version is that of the service: `npm version` changes both. */
  info: { title: string; version: string }
  paths: Record<string, PathItem>
}

const file = fileURLToPath(import.meta.resolve('#openapi.json'))

export const contract = JSON.parse(readFileSync(file, 'utf8')) as OpenApi

/** The path of an operation with its parameters filled in, e.g. `/notes/665f…`. */
export function pathOf(id: OperationId, parameters: Record<string, string> = {}): string {
  return operationOf(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '')
}

export const operationOf = (id: OperationId): Operation =>
  contractOperations.find((operation) => operation.id === id)!

export const contractOperations = operationsOf(contract)

/** The operations of `document`. References outside schemas are followed. */
export function operationsOf(document: OpenApi): Operation[] {
  const follow = <T extends object>(node: Ref<T>): T => resolve(document, node)

  function operationAt(path: string, method: string, item: PathItem): Operation {
    const { operationId: id, requestBody, responses, ...own } = item[method] as OperationObject
    const parameters = [...(item.parameters ?? []), ...(own.parameters ?? [])].map(follow)
    const types = Object.entries(responses).map(([status, response]) => {
      return [status, Object.keys(follow(response).content ?? {})]
    })
    return {
      id,
      method,
      path,
      bodySchema: requestBody && follow(follow(requestBody).content['application/json'].schema),
      parameters: parameters.map((one) => ({ ...one, schema: follow(one.schema) })),
      responseTypes: Object.fromEntries(types),
    }
  }

  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => 'operationId' in Object(item[key])) // a path item also has parameters
      .map((method) => operationAt(path, method, item)),
  )
}

/** What a reference points to, which `npm run check` has checked; anything else as it is. */
function resolve<T extends object>(document: OpenApi, node: Ref<T>): T {
  if (!('$ref' in node)) return node
  const keys = node.$ref.split('/').slice(1)
  return resolve(document, keys.reduce<unknown>((at, key) => Object(at)[key], document) as Ref<T>)
}
