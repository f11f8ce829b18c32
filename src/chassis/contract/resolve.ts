// A contract as the service reads it: without references, with what it also accepts, and as a list of operations.
import type { Operation } from './operation.ts'

type Any = any // eslint-disable-line -- whatever a document has at a place

/** What the service reads of a contract: not the schemas of responses, which may refer to themselves. */
export function operationsOf(document: object): Operation[] {
  const { paths, security: ofAll = [] }: Any = document
  checkKeys(document, DOCUMENT, 'the contract')
  return Object.entries<Any>(paths).flatMap(([path, item]) =>
    Object.entries<Any>(item).flatMap(([method, operation]) => {
      if (NO_METHOD.test(method)) return []
      if (!METHOD.test(method)) throw new Error(`${path}: ${method} is not a method`)
      const { operationId: id, requestBody, security = ofAll } = operation
      checkKeys(operation, OPERATION, `${method} ${path}`)
      if (![ofAll, security].every(isSecurity)) throw new Error(`${method} ${path}: ${SECURITY}`)
      const all = [item.parameters, operation.parameters].flatMap((list) => list ?? [])
      const [body, resolved]: Any = resolveContract(document, [requestBody, all])
      const bodySchema = body && schemaOf(body, method, path)
      const byPlace = new Map(
        resolved.map((parameter: Any) => [`${parameter.in} ${parameter.name}`, parameter]),
      )
      const parameters: Any = [...byPlace.values()] // its own come after those of the path
      const isProtected = security.length > 0 && !security.some(isEmpty)
      const responses = mediaTypesOf(operation.responses, document)
      return [{ id, method, path, isProtected, bodySchema, parameters, responses }]
    }),
  )
}

const METHOD = /^(get|put|post|delete|options|head|patch|trace)$/
/** What an OpenAPI document and an Operation Object have (OpenAPI 3.0.3): a misspelt `security` would protect nothing. */
const DOCUMENT = /^(openapi|info|servers|paths|components|security|tags|externalDocs|x-.*)$/
const OPERATION =
  /^(tags|summary|description|externalDocs|operationId|parameters|requestBody|responses|callbacks|deprecated|security|servers|x-.*)$/
function checkKeys(object: object, known: RegExp, name: string): void {
  const unknown = Object.keys(object).find((key) => !known.test(key))
  if (unknown) throw new Error(`${name}: ${unknown} is not a field of OpenAPI 3.0`)
}

const isSecurity = (list: unknown): boolean =>
  Array.isArray(list) && list.every((one) => typeof one === 'object' && one && !Array.isArray(one))
const SECURITY = 'write `security` as a list of schemes, such as `- key: []`'

/** What else a Path Item Object has (OpenAPI 3.0.3); `$ref` leads to other files. */
const NO_METHOD = /^(parameters|servers|summary|description|x-.*)$/

function schemaOf({ content, required }: Any, method: string, path: string) {
  const isJson = required && Object.keys(content ?? {}).join() === JSON_TYPE
  if (isJson && content[JSON_TYPE]?.schema) return content[JSON_TYPE].schema
  throw new Error(`${method} ${path}: ${BODY}`)
}

const JSON_TYPE = 'application/json'
const BODY = `write a body with \`required: true\` and ${JSON_TYPE} alone, and its \`schema\``

/** An empty Security Requirement Object lets everybody pass (OpenAPI 3.0.3). */
const isEmpty = (requirement: object): boolean => Object.keys(requirement).length === 0

function mediaTypesOf(responses: object, document: object): Operation['responses'] {
  const types = (response: Any) => Object.keys(targetOf(response, document).content ?? {})
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, types(response)]),
  )
}

/** A document, or a part of it, without references, and with `x-also-accepts` in place of the keywords of its schema. */
export const resolveContract = <T extends object>(document: T, part: object = document): T =>
  JSON.parse(JSON.stringify(dereference(document, part)), (_, node) =>
    node?.['x-also-accepts'] ? { ...node, ...node['x-also-accepts'] } : node,
  )

/** A document, or a part of it, with references replaced by what they point to. @throws TypeError one leads to where it is */
export const dereference = <T extends object>(document: T, part: object = document): T =>
  JSON.parse(JSON.stringify(part, (_, node) => targetOf(node, document)))

/** What a node points to, through others; the node if it is not a reference. @throws Error it leads nowhere */
function targetOf(node: Any, document: object): Any {
  const reference: unknown = node?.$ref
  if (typeof reference !== 'string') return node // a field may have this name
  const keys = reference.slice(2).split('/')
  const found = keys.reduce((at: Any, key) => at?.[key], document)
  if (found === undefined || !reference.startsWith('#/'))
    throw new Error(`${reference} leads nowhere`)
  return targetOf(found, document)
}
