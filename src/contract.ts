// The contract: openapi.yaml, and the types that `npm run generate` makes of it.
import { loadContract, type Handlers as HandlersOf } from './chassis/index.ts'
import type { operations } from './openapi.ts'

export const contract = loadContract<operations>(import.meta.resolve('#openapi.yaml'))

export type Handlers = HandlersOf<operations>
