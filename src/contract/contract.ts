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
  bodySchema?: object & { required?: string[] }
  parameters: Parameter[]
  /** By status. Of the media types, the first is the default. */
  responses: Record<string, { content?: Record<string, unknown> }>
}

/** A Parameter Object (OpenAPI 3.0.3). */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  schema: { type?: string }
}

/** What the service reads of the contract. */
export interface Contract {
  /** Its version is that of the service: `npm version` changes both. */
  info: { title: string; version: string }
  operations: Operation[]
}

const file = fileURLToPath(import.meta.resolve('#contract.json'))

export const contract = JSON.parse(readFileSync(file, 'utf8')) as Contract

/** The path of an operation with its parameters filled in, e.g. `/notes/665f…`. */
export function pathOf(id: OperationId, parameters: Record<string, string> = {}): string {
  return operationOf(id).path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '')
}

export const operationOf = (id: OperationId): Operation =>
  contract.operations.find((operation) => operation.id === id)!
