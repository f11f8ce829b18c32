// The contract's operations as types of functions. Compiles to nothing.
import type { components, operations } from './openapi.ts'

export type User = components['schemas']['User']

/**
 * One function for each operation, by its `operationId`. A missing operation, an undocumented
 * status, a missing header or a body of another shape does not compile.
 */
export type Handlers = { [K in keyof operations]: Handler<K> }

export type Handler<K extends keyof operations> = (
  input: Input<operations[K]>,
) => Reply<operations[K]['responses']> | Promise<Reply<operations[K]['responses']>>

/**
 * What the request brings: its parameters, in the path as they were sent, in the query validated, in
 * the header any text; and its validated body.
 */
type Input<O extends { parameters: object; requestBody?: unknown }> = Places<O['parameters']> &
  (O extends { requestBody: { content: Json<infer Body> } } ? { body: Body } : unknown)

/** The places that the operation has parameters in. */
type Places<Parameters> = {
  [
    Place in keyof Parameters as [NonNullable<Parameters[Place]>] extends [never] ? never : Place
  ]-?: NonNullable<Parameters[Place]>
}

/** The JSON text of a `T`, as JSON.stringify would write it; in UTF-8 where it is bytes. */
export type JsonText<T> = (string | Uint8Array) & { readonly [json]: T }
declare const json: unique symbol

/** One of the documented responses. A JSON array may be given in parts, each the JSON text of one. */
type Reply<Responses> = {
  [Status in keyof Responses]: { status: Status } & HeadersOf<Responses[Status]> &
    BodyOf<Responses[Status]>
}[keyof Responses]

type HeadersOf<R> = R extends { headers: infer H }
  ? keyof Declared<H> extends never
    ? { headers?: never }
    : object extends Declared<H>
      ? { headers?: Declared<H> }
      : { headers: Declared<H> }
  : never

type BodyOf<R> = R extends { content: Json<infer Body> }
  ? { body: Body extends readonly unknown[] ? Body | AsyncIterable<JsonText<Body>> : Body }
  : { body?: never }

interface Json<Body> {
  'application/json': Body
}

/** The named headers, without the index signature that openapi-typescript adds. */
type Declared<H> = { [Name in keyof H as string extends Name ? never : Name]: H[Name] }
