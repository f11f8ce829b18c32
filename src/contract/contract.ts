// openapi.yaml, as the build has parsed it: the document and its operations. Adds nothing to what the
// document says.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { operations } from './openapi.ts'

export type OperationId = keyof operations

/** One operation of the contract, as far as routing and reading a body need to know it. */
export interface Operation {
  id: OperationId
  method: Method
  /** The path template, e.g. `/users/{id}` (OpenAPI 3.1.1 §4.8.8). */
  path: string
  /** The media types that its request body may have; none when it takes no body. */
  mediaTypes: string[]
}

/** The HTTP methods that a Path Item can define (OpenAPI 3.1.1 §4.8.9). */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const
type Method = (typeof METHODS)[number]

interface OperationObject {
  operationId: OperationId
  requestBody?: { content: Record<string, unknown> }
}

interface OpenApi {
  paths: Record<string, { [M in Method]?: OperationObject }>
}

const file = fileURLToPath(import.meta.resolve('#openapi.json'))

export const contract = JSON.parse(readFileSync(file, 'utf8')) as OpenApi

/** The path of an operation with its parameters filled in, e.g. `/users/665f…`. */
export function pathOf(id: OperationId, parameters: Record<string, string>): string {
  return operationOf(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '')
}

export const operationOf = (id: OperationId): Operation =>
  contractOperations.find((operation) => operation.id === id)!

export const contractOperations: Operation[] = Object.entries(contract.paths).flatMap(
  ([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      if (!operation) return []
      const mediaTypes = Object.keys(operation.requestBody?.content ?? {})
      return [{ id: operation.operationId, method, path, mediaTypes }]
    }),
)
