// A contract as the service reads it: without references, with what it also accepts, and as a list of operations.
import type { Operation } from './operation.ts'

type Any = any // eslint-disable-line -- whatever a document has at a place

/** What the service reads of a contract. */
export function operationsOf(document: object): Operation[] {
  const { paths, security: ofAll = [] }: Any = resolveContract(document)
  return Object.entries<Any>(paths).flatMap(([path, item]) =>
    Object.entries<Any>(item).flatMap(([method, operation]) => {
      const { operationId: id, requestBody, security = ofAll } = operation
      if (!id) return [] // a path item also has parameters
      const bodySchema = requestBody?.content['application/json'].schema
      const parameters = [item.parameters, operation.parameters].flatMap((some) => some ?? [])
      const isProtected = security.length > 0 && security.every((one: object) => !isEmpty(one))
      const responses = mediaTypesOf(operation.responses)
      return [{ id, method, path, isProtected, bodySchema, parameters, responses }]
    }),
  )
}

/** An empty Security Requirement Object lets everybody pass (OpenAPI 3.0.3). */
const isEmpty = (requirement: object): boolean => Object.keys(requirement).length === 0

const mediaTypesOf = (responses: Record<string, { content?: object }>): Operation['responses'] =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { content = {} }]) => [status, Object.keys(content)]),
  )

/** The document without references, and with the keywords in `x-also-accepts` in place of those of their schema. */
export const resolveContract = <T extends object>(document: T): T =>
  JSON.parse(JSON.stringify(dereference(document)), (_, part) =>
    part?.['x-also-accepts'] ? { ...part, ...part['x-also-accepts'] } : part,
  )

/** The document with references replaced by what they point to. @throws Error one leads nowhere, or to itself */
export function dereference<T extends object>(document: T): T {
  const target = (node: Any): Any => {
    const reference: string | undefined = node?.$ref
    if (!reference) return node
    const keys = reference.slice(2).split('/')
    const found = keys.reduce((at: Any, key) => at?.[key], document)
    if (found === undefined) throw new Error(`${reference} leads nowhere`)
    return target(found)
  }
  return JSON.parse(JSON.stringify(document, (_, node) => target(node)))
}
