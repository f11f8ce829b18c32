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
  bodySchema: object
  parameters: Parameter[]
  /** The media types of its 200, the default first. */
  responseTypes: string[]
}

/** A Parameter Object (OpenAPI 3.0.3). */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  schema: { type?: string }
}

interface OperationObject {
  operationId: OperationId
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, { content?: Record<string, unknown> }>
}

interface OpenApi {
  /** Its version is that of the service: `npm version` changes both. */
  info: { version: string }
  paths: Record<string, Record<string, OperationObject>>
  components: { parameters: Record<string, Parameter> }
}

const file = fileURLToPath(import.meta.resolve('#openapi.json'))

export const contract = JSON.parse(readFileSync(file, 'utf8')) as OpenApi

/** The path of an operation with its parameters filled in, e.g. `/users/665f…`. */
export function pathOf(id: OperationId, parameters: Record<string, string> = {}): string {
  return operationOf(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '')
}

export const operationOf = (id: OperationId): Operation =>
  contractOperations.find((operation) => operation.id === id)!

export const contractOperations: Operation[] = Object.entries(contract.paths).flatMap(
  ([path, item]) =>
    Object.entries(item)
      .filter(([, object]) => 'operationId' in object) // a path item also has parameters
      .map(([method, object]) => operationAt(path, method, object)),
)

function operationAt(path: string, method: string, object: OperationObject): Operation {
  const { operationId: id, requestBody, parameters = [], responses } = object
  const content = requestBody?.content ?? {}
  return {
    id,
    method,
    path,
    mediaTypes: Object.keys(content),
    bodySchema: Object.values(content)[0]?.schema ?? {},
    parameters: parameters.map(resolved),
    responseTypes: Object.keys(responses['200']?.content ?? {}),
  }
}

function resolved(parameter: Parameter | { $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter
  return contract.components.parameters[parameter.$ref.split('/').at(-1)!]!
}
