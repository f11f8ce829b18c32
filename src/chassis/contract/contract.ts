// A contract and its operations, from openapi.yaml.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { load } from 'js-yaml'
import { checkOperations } from './check.ts'
import type { Operation } from './operation.ts'
import { operationsOf } from './resolve.ts'

/** What the chassis reads of an OpenAPI document beside its operations. */
export interface Document {
  info: { title: string; version: string }
  servers: { url: string }[]
}

/** @typeParam Operations the type `operations` that openapi-typescript makes */
export type Contract<Operations> = ReturnType<typeof loadContract<Operations>>

/**
 * The contract in a file of YAML. It is read at its first use, so that `serve` can say what is wrong with it.
 *
 * @param url of the file: `new URL('openapi.yaml', import.meta.url)`
 */
export function loadContract<Operations>(url: string | URL) {
  type Id = keyof Operations & string
  let loaded: ReturnType<typeof read> | undefined
  const contents = () => (loaded ??= read(url))
  const operationOf = (id: Id): Operation =>
    contents().operations.find((operation) => operation.id === id)!
  return {
    contents,
    operationOf,
    /**
     * The path of an operation with its parameters filled in and encoded, e.g. `/notes/665f…`.
     *
     * @throws Error a parameter is missing, empty or unknown
     */
    pathOf(id: Id, parameters: Record<string, string> = {}): string {
      const { path } = operationOf(id)
      const unknown = Object.keys(parameters).find((name) => !path.includes(`{${name}}`))
      if (unknown) throw new Error(`the path of ${id} has no parameter ${unknown}`)
      return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const value = parameters[name]
        if (!value) throw new Error(`the path of ${id} needs the parameter ${name}`)
        return encodeURIComponent(value)
      })
    },
  }
}

/** @throws Error it cannot be read, or is not a contract */
function read(url: string | URL) {
  const file = fileURLToPath(url)
  try {
    const text = readFileSync(file, 'utf8')
    const document = load(text) as Document
    const title: unknown = Object(document).info?.title
    const words = typeof title === 'string' && title.toLowerCase().match(/[a-z\d]+/g)
    if (!words) throw new Error(NAMELESS)
    const name = words.join('-').replace(/^(?=\d)/, '-') // metrics may not begin with a digit
    const operations = operationsOf(document)
    checkOperations(operations)
    return { text, document, name, operations }
  } catch (error) {
    const message = (error as Error).message.replace(/^Converting circular.*/, SELF_REFERENCE)
    const [reason] = message.split('\n', 1)
    throw new Error(`cannot use ${file}: ${reason}`, { cause: error })
  }
}

const NAMELESS = 'its title names the metrics: it must be a text with a Latin letter or a digit'

/** Ajv would overflow the stack with a body that is as deep. */
const SELF_REFERENCE = 'a request refers to itself: write a schema of a known depth'
