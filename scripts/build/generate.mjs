// npm run generate: makes src/openapi.ts from openapi.yaml, if that follows the rules in .redocly.yaml.
// With --check, fails if the file is not up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { loadConfig } from '@redocly/openapi-core'
import openapiTS, * as ast from 'openapi-typescript'
import ts from 'typescript'

const [FROM, TO] = ['openapi.yaml', 'src/openapi.ts']

/** Any text. Unlike beside `string`, editors complete the texts beside `string & {}` in a union. */
const ANY_TEXT = ast.tsIntersection([ast.STRING, ts.factory.createTypeLiteralNode([])])

/** Makes no type of fields that the contract does not name, and of texts that may get more values the known ones. */
function transform(schema) {
  delete schema.additionalProperties
  const { type, nullable, 'x-extensible-enum': known } = schema
  if (type !== 'string' || !known) return undefined
  return ast.tsUnion([...known.map(ast.tsLiteral), ANY_TEXT, ...(nullable ? [ast.NULL] : [])])
}

const types = await openapiTS(new URL(`../../${FROM}`, import.meta.url), {
  redocly: await loadConfig({ configPath: '.redocly.yaml' }),
  defaultNonNullable: false,
  transform,
}).catch(({ message }) => {
  console.error(message)
  process.exit(1)
})
const text = ast.COMMENT_HEADER + ast.astToString(types)
const isCheck = process.argv.includes('--check')
if (isCheck && readFileSync(TO, 'utf8') !== text)
  throw new Error(`run npm run generate: ${TO} is not up to date`)
if (!isCheck) writeFileSync(TO, text)
console.log(`${FROM} → ${TO}`)
