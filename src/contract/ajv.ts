// Compiles the schemas of the contract. One for all of them: each instance compiles those of JSON Schema first.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { contract } from './document.ts'

export const ajv = new Ajv2020({
  strict: false,
  strictNumbers: true, // 1e400 is none
  verbose: true, // messages look at the schema and the value
  formats: { 'well-formed-unicode': (text: string) => text.isWellFormed() },
}).addSchema(contract, 'openapi.yaml')
