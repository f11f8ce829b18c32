// What redocly.yaml refuses and the service would get wrong in silence: refused at the start, too. Schemas are in ajv.ts.
import type { Operation, Parameter } from './operation.ts'

/** @throws Error names an operation that the service would not serve as the contract says */
export function checkOperations(operations: Operation[]): void {
  for (const operation of operations) {
    const problem = problemIn(operation, operations)
    if (problem) throw new Error(`${operation.method} ${operation.path}: ${problem}`)
  }
}

function problemIn({ id, path, parameters, responses }: Operation, all: Operation[]) {
  if (!PATH.test(path)) return 'write a path of names, and of parameters such as `/{id}`'
  const twin = all.find((other) => other.path !== path && shapeOf(other.path) === shapeOf(path))
  if (twin) return `${twin.path} is the same path`
  if (!id) return 'write an `operationId`'
  if (all.filter((other) => other.id === id).length > 1) return `two operations are ${id}`
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  if (String(names.sort()) !== String(inPath.map(({ name }) => name).sort()))
    return 'write each parameter of the path once, with `in: path`'
  const unread = parameters.find((parameter) => !isRead(parameter))
  if (unread) return `the service does not read the parameter ${unread.name} like this`
  const filled = parameters.find(
    ({ required, schema }) => required && schema && 'default' in schema,
  )
  if (filled) return `write \`required: true\` or a \`default\` for ${filled.name}, not both`
  const hasNone = ([status, types]: [string, string[]]) =>
    status.startsWith('1') || (/^(204|205|304)$/.test(status) && types.length > 0)
  const bodiless = Object.entries(responses).find(hasNone)
  return (
    bodiless && `HTTP has no response ${bodiless[0]} with a body, and none of 1xx from a handler`
  )
}

/** That of rule/path. Clients leave out `.` and `..`. */
export const PATH = /^(\/(?!\.\.?(\/|$))([\w.-]+|\{[A-Za-z]\w*\}))+$/

const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

/** Whether the service reads the parameter as the contract says. */
function isRead({ in: place, style = '', explode, schema = {} }: Parameter): boolean {
  const { type = '' } = (place === 'query' && schema.items) || schema
  if (place === 'path' && UNCHECKED.some((keyword) => keyword in schema)) return false
  return READ.test(`${place},${style},${explode ?? ''},${type}`)
}

const READ = /^(query,(form)?,(true)?,(string|integer|boolean)|(path|header),(simple)?,\w*,string)$/

/** As in rule/path-parameter. */
export const UNCHECKED = ['enum', 'pattern', 'format', 'minLength', 'maxLength', 'default']
