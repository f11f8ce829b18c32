// openapi.yaml, as the build has parsed it: the document and its operations. Adds nothing to what the
// document says.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { operations } from './openapi.ts'

export type OperationId = keyof operations

/** One operation of the contract, as far as routing, reading a request and answering it need to know it. */
export interface Operation {
  id: OperationId
  method: Method
  /** The path template, e.g. `/users/{id}` (OpenAPI 3.1.1 §4.8.8). */
  path: string
  /** The media types that its request body may have; none when it takes no body. */
  mediaTypes: string[]
  /** What may stand in its query and in its headers. */
  parameters: Parameter[]
  /** The media types that its 200 may have, the usual one first. */
  answers: string[]
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
          answers: Object.keys(operation.responses['200']?.content ?? {}),
        },
      ]
    }),
)

function resolved(parameter: Parameter | Reference): Parameter {
  if (!('$ref' in parameter)) return parameter
  const name = parameter.$ref.slice('#/components/parameters/'.length)
  return contract.components.parameters[name]!
}
