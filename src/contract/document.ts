// openapi.yaml, parsed by the build: the document and its operations. Adds nothing to the document.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { operations } from './openapi.ts'

export type OperationId = keyof operations

/** One operation of the contract: what routing, reading and writing need. */
export interface Operation {
  id: OperationId
  method: Method
  /** The path template, e.g. `/users/{id}` (OpenAPI 3.1.1 §4.8.8). */
  path: string
  /** The media types of its request body; none if it takes no body. */
  mediaTypes: string[]
  parameters: Parameter[]
  /** The media types of its 200, the default first. */
  responseTypes: string[]
}

/** A Parameter Object (OpenAPI 3.1.1 §4.8.12). */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  schema: object
}

/** The HTTP methods that a Path Item can define (OpenAPI 3.1.1 §4.8.9). */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const
type Method = (typeof METHODS)[number]

interface OperationObject {
  operationId: OperationId
  parameters?: (Parameter | Reference)[]
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, { content?: Record<string, unknown> }>
}

interface Reference {
  $ref: string
}

interface OpenApi {
  /** Its version is that of the service: `npm version` changes both. */
  info: { version: string }
  paths: Record<string, { [M in Method]?: OperationObject }>
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
    METHODS.flatMap((method) => {
      const operation = item[method]
      if (!operation) return []
      return [
        {
          id: operation.operationId,
          method,
          path,
          mediaTypes: Object.keys(operation.requestBody?.content ?? {}),
          parameters: (operation.parameters ?? []).map(resolved),
          responseTypes: Object.keys(operation.responses['200']?.content ?? {}),
        },
      ]
    }),
)

function resolved(parameter: Parameter | Reference): Parameter {
  if (!('$ref' in parameter)) return parameter
  const name = parameter.$ref.slice('#/components/parameters/'.length)
  return contract.components.parameters[name]!
}
