// Bodies as large as may be that are hard to parse, for what is not stored.
import { BODY_LIMIT } from './app.ts'

const deep = Math.floor(BODY_LIMIT / 12)
export const bodies = {
  'arrays in arrays': '['.repeat(BODY_LIMIT / 2) + ']'.repeat(BODY_LIMIT / 2),
  'objects in objects': `${'{"text":'.repeat(deep)}1${'}'.repeat(deep)}`,
  'many fields': `{${Array.from({ length: deep }, (_, i) => `"${i}":0`).join(',')}}`,
  'a long number': `{"text":${'9'.repeat(BODY_LIMIT - 10)}}`,
  'many prototypes': `{${'"__proto__":{"text":"x"},'.repeat(deep / 3)}"x":0}`,
}
