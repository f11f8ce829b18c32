// The door of the chassis: a service imports nothing else of it; its programs also have programs.ts. service.ts has the
// interfaces with their rules.
export { serve } from './serve.ts'
export { loadContract } from './contract/contract.ts'
export { duration, integer, list, secret, text } from './config/validators.ts'
export { HttpError } from './http/http-error.ts'
export { etagOf, ifMatch, ifNoneMatch, preconditionFailed } from './preconditions.ts'
export { StoreFailure } from './failure.ts'
export { makeFolder } from './files.ts'
export { batched } from './batch.ts'
export { openTokens, tokenVariables } from './tokens/open.ts'

export type { Config } from './config/config.ts'
export type { Variables } from './config/validators.ts'
export type { Handlers } from './contract/handlers.ts'
export type { Guard, Parts, Service, Store, Tools } from './service.ts'
export type { Client } from './http/client.ts'
export type { Tokens } from './tokens/tokens.ts'
