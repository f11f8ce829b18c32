// Which of the documented responses the tests have seen, and how often. The tests run in several
// processes, so that the record is a file: a line for each response.
import { appendFileSync } from 'node:fs'

export interface Ref {
  $ref?: string
}

export interface ResponseObject extends Ref {
  headers?: Record<string, Ref & { required?: boolean; schema: object }>
  content?: Record<string, { schema: Schema }>
}

type Responses = Record<string, ResponseObject>

interface Schema extends Ref {
  items?: Schema
  properties?: Record<string, unknown>
}

/** What openapi.yaml says of responses. */
export interface Contract {
  paths: Record<string, Record<string, { operationId?: string; responses?: Responses }>>
  'x-responses-outside-operations': Responses
}

/** The responses that one operation has, or that a request has which reaches none. */
export interface Documented {
  name: string
  path?: string
  /** In lower case; none for the methods that the path does not have. */
  method?: string
  responses: Responses
}

/** Everything that the contract documents: by operation, by path, and for the rest. */
export function documentedBy(contract: Contract): Documented[] {
  const { 405: methodNotAllowed, ...others } = contract['x-responses-outside-operations']
  const paths = Object.entries(contract.paths)
  const operations = paths.flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId: name, responses = {} }]) =>
      name ? [{ name, path, method, responses }] : [],
    ),
  )
  const otherMethods = paths.map(([path]) => ({
    name: `another method of ${path}`,
    path,
    responses: { ...(methodNotAllowed && { 405: methodNotAllowed }) },
  }))
  return [...operations, ...otherMethods, { name: 'no operation', responses: others }]
}

/** What documents an answer to `method` and `path`, if anything does. */
export function find(all: Documented[], method: string, path: string, status: number): Documented {
  const pathname = path.replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*/s, '')
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const here = all.filter((one) => one.path && pattern(one.path).test(pathname))
  const operation = here.find((one) => one.method === verb)
  const other = status === 405 ? here.find((one) => !one.method) : undefined
  return operation ?? other ?? all.at(-1)!
}

const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

const fieldsSeen = new Set<string>()

/** Notes that a response was seen, and which fields its JSON body has. */
export function record({ name }: Documented, status: number, json?: unknown): void {
  const file = process.env['RESPONSES_SEEN']
  if (!file) return
  appendFileSync(file, `${status} ${name}\n`)
  const [first] = [json].flat()
  for (const field of Object.keys(Object(first) as object)) {
    const line = fieldOf(name, status, field)
    if (!fieldsSeen.has(line)) appendFileSync(file, `${line}\n`)
    fieldsSeen.add(line)
  }
}

const FIELD = 'field'
const fieldOf = (name: string, status: number | string, field: string) =>
  `${FIELD} ${status} ${name}: ${field}`

/** The fields that a response may have. */
function fieldsIn(contract: Contract, { name, responses }: Documented): string[] {
  return Object.entries(responses).flatMap(([status, reference]) => {
    const response = resolve(contract, reference)
    const schema = response.content?.['application/json']?.schema ?? {}
    const { items, properties } = resolve(contract, schema)
    const fields = properties ?? resolve(contract, items ?? {}).properties ?? {}
    return Object.keys(fields).map((field) => fieldOf(name, status, field))
  })
}

/** What a reference points to, or the object itself. */
export function resolve<T extends Ref>(contract: object, object: T): T {
  if (!object.$ref) return object
  const keys = object.$ref.slice(2).split('/')
  return keys.reduce((at, key) => (at as Record<string, unknown>)[key], contract as unknown) as T
}

/**
 * Holds what was seen against what is documented.
 *
 * @param lines what `record` wrote
 * @returns a table, and a sentence for each response never seen and each not documented
 */
export function coverage(contract: Contract, lines: string[]): { table: string; faults: string[] } {
  const all = documentedBy(contract)
  const seen = new Map<string, number>()
  for (const line of lines) seen.set(line, (seen.get(line) ?? 0) + 1)
  const expected = new Set(
    all.flatMap(({ name, responses }) => Object.keys(responses).map((s) => `${s} ${name}`)),
  )
  const statuses = new Set([...expected, ...seen.keys()].map((line) => line.split(' ')[0]!))
  const columns = [...statuses].filter((column) => column !== FIELD).sort()
  for (const field of all.flatMap((one) => fieldsIn(contract, one))) expected.add(field)
  const cell = (line: string) => String(seen.get(line) ?? (expected.has(line) ? 'NEVER' : ''))
  const rows = all.map(({ name }) => [name, ...columns.map((s) => cell(`${s} ${name}`))])
  return {
    table: aligned([['', ...columns], ...rows]),
    faults: [
      ...[...expected].filter((line) => !seen.has(line)).map((line) => `${line}: never seen`),
      ...[...seen.keys()].filter((l) => !expected.has(l)).map((l) => `${l}: not documented`),
    ],
  }
}

function aligned(rows: string[][]): string {
  const width = Math.max(...rows.map(([name = '']) => name.length))
  const line = ([name = '', ...cells]: string[]) =>
    name.padEnd(width) + cells.map((cell) => cell.padStart(7)).join('')
  return rows.map(line).join('\n')
}
