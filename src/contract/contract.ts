// The contract and its operations. The build makes it of openapi.yaml (scripts/build/resolve-contract.ts).
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
  /** By status. Of the media types, the first is the default. */
  responses: Record<string, { content?: Record<string, unknown> }>
}

type BodySchema = object & { required?: string[] }

/** A Parameter Object (OpenAPI 3.0.3). */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  schema: { type?: string }
}

interface PathItem {
  parameters?: Parameter[]
  [methodOrText: string]: unknown
}

interface OperationObject {
  operationId: OperationId
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: BodySchema } } }
  responses: Operation['responses']
}

export interface OpenApi {
  /** Its version is that of the service: `npm version` changes both. */
  info: { title: string; version: string }
  paths: Record<string, PathItem>
}

const file = fileURLToPath(import.meta.resolve('#contract.json'))

export const contract = JSON.parse(readFileSync(file, 'utf8')) as OpenApi

/** The path of an operation with its parameters filled in, e.g. `/notes/665f…`. */
export function pathOf(id: OperationId, parameters: Record<string, string> = {}): string {
  return operationOf(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '')
}

export const operationOf = (id: OperationId): Operation =>
  contractOperations.find((operation) => operation.id === id)!

export const contractOperations = operationsOf(contract)

/** The operations of `document`, which has no references. */
export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => 'operationId' in Object(item[key])) // a path item also has parameters
      .map((method) => operationAt(path, method, item)),
  )
}

function operationAt(path: string, method: string, item: PathItem): Operation {
  const { operationId: id, requestBody, responses, ...own } = item[method] as OperationObject
  const bodySchema = requestBody?.content['application/json'].schema
  const parameters = [...(item.parameters ?? []), ...(own.parameters ?? [])]
  return { id, method, path, bodySchema, parameters, responses }
}
