// Finds the changes to a contract that break a client made for the released one. A change counts as
// breaking unless it is known to be harmless, so a keyword that is not mentioned here may not change.
// Not covered: what only a description says, and an additional success status.

/** An OpenAPI document, parsed. */
export interface OpenApi {
  info: { version: string }
  [key: string]: unknown
}

/** A description of each change, with its place. */
type Changes = string[]
type Side = 'request' | 'response'
type Node = Record<string, any> // eslint-disable-line -- whatever a document has at a place

/** @returns a description of each change that breaks a client */
export function breakingChanges(released: OpenApi, current: OpenApi): Changes {
  const [before, now] = [released, current].map((contract) => resolve(contract, contract) as Node)
  return [
    ...compareValues('components', 'securitySchemes', schemes(before!), schemes(now!)),
    ...compareEntries('components', before!.components.schemas, now!.components.schemas, () => []),
    ...compareEntries('', operations(before!), operations(now!), operation),
  ]
}

const schemes = ({ components }: Node) => components.securitySchemes

/** The operations by method and path, each with what the document and its path define for it. */
function operations({ paths, security, servers, ...contract }: Node): Node {
  const outside = { operationId: 'none', responses: contract['x-responses-outside-operations'] }
  const found: Node = { 'outside the operations': outside }
  for (const [path, { parameters = [], ...item }] of Object.entries<Node>(paths)) {
    for (const [method, value] of Object.entries<Node>(item)) {
      if (!value.operationId) continue
      found[`${method.toUpperCase()} ${path}`] = {
        security,
        servers: item.servers ?? servers,
        ...value,
        parameters: byName([...parameters, ...(value.parameters ?? [])]),
      }
    }
  }
  return found
}

const byName = (parameters: Node[]): Node =>
  Object.fromEntries(parameters.map((one) => [`${one.in} parameter ${one.name}`, one]))

function operation(at: string, before: Node, now: Node): Changes {
  const isPublicNow = now.security?.length === 0
  return [
    ...compareValues(at, 'operationId', before.operationId, now.operationId),
    ...compareValues(at, 'servers', before.servers, now.servers),
    ...(isPublicNow ? [] : compareValues(at, 'security', before.security, now.security)),
    ...parameters(at, before.parameters, now.parameters),
    ...compareEntries(at, { body: before.requestBody }, { body: now.requestBody }, input),
    ...compareEntries(at, before.responses, now.responses, response),
  ]
}

function parameters(at: string, before: Node = {}, now: Node = {}): Changes {
  const added = Object.keys(now).filter((name) => !before[name] && now[name].required)
  return [
    ...added.map((name) => `${at} ${name}: is new and required`),
    ...compareEntries(at, before, now, input),
  ]
}

function input(at: string, before: Node, now: Node): Changes {
  const isNewlyRequired = now.required && !before.required
  return [
    ...(isNewlyRequired ? [`${at}: is required`] : []),
    ...compareEntries(at, before.content, now.content, (media, one, other) =>
      schema('request', media, one.schema, other.schema),
    ),
    ...schema('request', at, before.schema, now.schema),
  ]
}

const response = (at: string, before: Node, now: Node): Changes => [
  ...compareEntries(at, before.headers, now.headers, (header, one, other) => [
    ...(one.required && !other.required ? [`${header}: may be absent`] : []),
    ...compareValues(header, 'schema', one.schema, other.schema),
  ]),
  ...compareEntries(at, before.content, now.content, (media, one, other) =>
    schema('response', media, one.schema, other.schema),
  ),
]

/** A request may allow more than before, and a response may allow less; the opposite breaks clients. */
function schema(side: Side, at: string, before: Node = {}, now: Node = {}): Changes {
  const { properties, items } = before
  const [narrow, wide] = side === 'request' ? [before, now] : [now, before]
  return [
    ...compareEntries(at, properties, now.properties, schema.bind(null, side)),
    ...(items ? schema(side, `${at} items`, items, now.items) : []),
    ...Object.keys({ ...before, ...now })
      .filter((keyword) => !allows(keyword, wide[keyword], narrow[keyword]))
      .flatMap((keyword) => compareValues(at, keyword, before[keyword], now[keyword])),
  ]
}

/** Whether `wide` allows everything that `narrow` allows. Both are values of one keyword of JSON Schema. */
function allows(keyword: string, wide: unknown, narrow: unknown): boolean {
  if (keyword === 'properties' || keyword === 'items') return true // compared one by one
  if (keyword === 'default') return false // clients rely on it: it must stay the same
  if (keyword === 'x-also-accepts') return narrow === undefined
  if (keyword === 'additionalProperties') return (wide ?? true) === true
  if (wide === undefined) return true
  if (keyword === 'required') return includesAll(narrow ?? [], wide)
  if (narrow === undefined) return false
  if (keyword === 'type') return includesAll(wide, narrow)
  if (keyword.startsWith('min')) return Number(wide) <= Number(narrow)
  if (keyword.startsWith('max')) return Number(wide) >= Number(narrow)
  return false
}

/** Whether every item of `few` is among `many`; a single item needs no array. */
const includesAll = (many: unknown, few: unknown) =>
  [few].flat().every((one) => [many].flat().includes(one))

/** Compares the entries with the same name, and reports those that are gone. */
function compareEntries(
  at: string,
  before: Node = {},
  now: Node = {},
  compare: (at: string, before: Node, now: Node) => Changes,
): Changes {
  return Object.keys(before).flatMap((name) => {
    const place = `${at} ${name}`.trim()
    if (before[name] === undefined) return []
    return now[name] === undefined ? [`${place}: is gone`] : compare(place, before[name], now[name])
  })
}

function compareValues(at: string, what: string, before: unknown, now: unknown): Changes {
  const [was, is] = [before, now].map((value) =>
    value === undefined ? 'absent' : JSON.stringify(value),
  )
  return was === is ? [] : [`${at}: ${what} was ${was} and is ${is}`]
}

/** The document without texts for people, and with its references replaced by what they point to. */
function resolve(node: unknown, root: unknown, within: string[] = [], key = ''): unknown {
  if (Array.isArray(node)) return node.map((item) => resolve(item, root, within))
  if (typeof node !== 'object' || node === null) return node
  if ('$ref' in node) {
    const ref = String(node.$ref)
    const keys = ref.slice(2).split('/')
    const target = keys.reduce((found, name) => (found as Node)[name], root)
    return within.includes(ref) ? node : resolve(target, root, [...within, ref])
  }
  const entries = Object.entries(node).filter(
    ([name]) => key === 'properties' || !DOCUMENTATION.test(name),
  )
  return Object.fromEntries(
    entries.map(([name, value]) => [name, resolve(value, root, within, name)]),
  )
}

const DOCUMENTATION =
  /^(description|summary|title|examples?|deprecated|tags|x-(?!responses-outside|also-accepts).*)$/
