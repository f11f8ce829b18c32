// Koa's context, on the requests and responses of http/server.ts.
import type Koa from 'koa'
import type { IncomingRequest } from './request.ts'
import type { OutgoingResponse } from './response.ts'

/** What Koa calls the custom part of a context. */
export type OnServer = Koa.DefaultContext & { req: IncomingRequest; res: OutgoingResponse }

export type Context = Koa.ParameterizedContext<Koa.DefaultState, OnServer>
