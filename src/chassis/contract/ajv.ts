// Ajv, as the contract needs it: it refuses a schema that the service would not keep, and knows the formats of texts.
import { Ajv, type ErrorObject } from 'ajv'
import ajvFormats from 'ajv-formats'

const ajv = new Ajv({
  strictSchema: 'log', // a keyword that Ajv does not know
  strictTypes: 'log', // a keyword of another type
  allowUnionTypes: true,
  logger: { log() {}, error() {}, warn: refuse },
  validateSchema: false, // compiling a keyword checks its value
  ownProperties: true, // `constructor` is a name like any other
  removeAdditional: 'all', // other fields are ignored: they must not take memory while the handler works
  useDefaults: true,
  verbose: true, // an error has the value and its schema
  formats: { int32: true, 'uri-reference': true, binary: true }, // they are for generators
})

/** @throws Error unless it is about a keyword that begins with `x-`: these can mean anything */
function refuse(problem: string): void {
  if (!problem.includes('"x-')) throw new Error(problem.replace('strict mode: ', ''))
}

/** With `removeAdditional`, these would take away fields that the contract has, or have no effect. */
const REFUSED = ['allOf', 'anyOf', 'oneOf', 'not', 'additionalProperties', 'readOnly', 'writeOnly']
for (const keyword of REFUSED) ajv.removeKeyword(keyword)
ajv.addVocabulary(['example', 'externalDocs', 'xml'])

/** The formats that are checked, in words. */
const FORMS: Record<string, string> = {
  'date-time': 'a date-time such as 2026-11-28T12:00:00Z',
  date: 'a date such as 2026-11-28',
  uuid: 'a UUID such as 0b5e7a52-5a1c-4a7e-9c57-6f1d2e8b3f4a',
  email: 'an email address such as ada@example.com',
  uri: 'a URI such as https://example.com/notes',
}
ajvFormats.default(ajv, Object.keys(FORMS) as ajvFormats.FormatName[])

/** A function that validates values. @throws Error the service would not do what the schema says */
export function compile(operationId: string, schema: object) {
  try {
    return ajv.compile(schema)
  } catch (cause) {
    throw new Error(`${operationId}: ${(cause as Error).message} (see redocly.yaml)`, { cause })
  }
}

/** What is wrong, for people: after the name of the value. A schema can have its own words, as `x-message`. */
export function problemIn({ keyword, params, parentSchema, message = '' }: ErrorObject): string {
  if (keyword === 'type') return `must be ${[params['type']].flat().join(' or ')}`
  if (keyword === 'enum') return `must be one of ${params['allowedValues'].join(', ')}`
  const words = keyword === 'format' ? `must be ${FORMS[params['format']]}` : message
  return parentSchema?.['x-message'] ?? words
}
