// The contract's operations as types of functions. Compiles to nothing.
import type { Client } from '../http/client.ts'

/**
 * One function for each operation, by its `operationId`. A missing operation, an undocumented
 * status, a missing header or a body of another shape does not compile.
 *
 * @typeParam Operations the type `operations` that openapi-typescript makes
 * @typeParam Caller who calls, as the guard says it
 */
export type Handlers<Operations, Caller = unknown> = {
  [Id in keyof Operations]: Handler<Operations[Id], Caller>
}

type Handler<Operation, Caller> = (
  input: Input<Operation>,
  client: Client<Caller>,
) => Reply<ResponsesOf<Operation>> | Promise<Reply<ResponsesOf<Operation>>>

type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never

/** What a handler gets, validated; only parameters in the path are exactly as sent. */
type Input<Operation> = (Operation extends { parameters: infer P } ? Places<P> : unknown) &
  (Operation extends { requestBody: { content: Json<infer Body> } } ? { body: Body } : unknown)

/** The places where the operation has parameters: path, query, header. */
type Places<Parameters> = {
  [
    Place in keyof Parameters as [NonNullable<Parameters[Place]>] extends [never] ? never : Place
  ]-?: NonNullable<Parameters[Place]>
}

/**
 * One of the documented responses, never `default`. An array may also be an async iterable of pages: its generator ends
 * with the response, as in `for await`.
 */
export type Reply<Responses> = {
  [Status in keyof Responses & number]: { status: Status } & HeadersOf<Responses[Status]> &
    BodyOf<Responses[Status]>
}[keyof Responses & number]

type HeadersOf<R> = R extends { headers: infer H }
  ? keyof Declared<H> extends never
    ? { headers?: never }
    : object extends Declared<H>
      ? { headers?: Declared<H> }
      : { headers: Declared<H> }
  : never

/** If the media type is JSON, a value; otherwise bytes or text. */
type BodyOf<R> = R extends { content: infer Content }
  ? { body: Content extends Json<infer Body> ? BodyOrPages<Named<Body>> : Uint8Array | string }
  : { body?: never }

type BodyOrPages<Body> = Body extends readonly unknown[] ? Body | AsyncIterable<Body> : Body

/** What the contract names: without the index signature of `additionalProperties: true`. */
type Named<T> = T extends readonly (infer Item)[]
  ? Named<Item>[]
  : T extends object
    ? { [Name in keyof T as string extends Name ? never : Name]: Named<T[Name]> }
    : T

type Json<Body> = { 'application/json': Body }

/** The headers that the guard and the chassis set. */
type ByService = 'Cache-Control' | 'Vary'

/** The headers that a handler returns. */
type Declared<H> = Omit<Named<H>, ByService>
