// Reads the headers of a request that are parameters of the contract, and checks them.
import type { IncomingHttpHeaders } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import type { Operation } from './operation.ts'
import { parameterValidator } from './validate.ts'

/** A function that reads and validates the headers of an operation. */
export function headerReader({ id, parameters }: Pick<Operation, 'id' | 'parameters'>) {
  const declared = parameters.filter((parameter) => parameter.in === 'header')
  const names = declared.map(({ name }) => [name, name.toLowerCase()] as const)
  const validate = parameterValidator(id, declared, malformed)
  return (headers: IncomingHttpHeaders) => {
    const values: Record<string, unknown> = Object.create(null)
    for (const [name, key] of names) if (Object.hasOwn(headers, key)) values[name] = headers[key]
    return validate(values)
  }
}

const malformed = (name: string, problem: string, code = 'header_invalid') =>
  new HttpError(400, code, `${name} ${problem}`)
