// Why a program of this package cannot do its work: a line for people, without a stack.

import { StoreFailure } from './store/user-store.ts'

export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, address, port } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
  }
  if (code === 'EADDRINUSE') return `port ${port} of ${address} is in use`
  if (error instanceof StoreFailure) return `${error.message}: ${explain(error.cause)}`
  return error.message
}
