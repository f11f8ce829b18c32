// Hostile clients, by what they do.
import { goesOn, says, type Hostile } from './clients.ts'
import { addNoteHead } from './notes.ts'
import { CHUNKED } from './requests.ts'
import { BODY_LIMIT } from './app.ts'

/** Bodies as large as may be that are hard to parse, for what is not stored. */
const deep = Math.floor(BODY_LIMIT / 12)
export const bodies = {
  'arrays in arrays': '['.repeat(BODY_LIMIT / 2) + ']'.repeat(BODY_LIMIT / 2),
  'objects in objects': `${'{"text":'.repeat(deep)}1${'}'.repeat(deep)}`,
  'many fields': `{${Array.from({ length: deep }, (_, i) => `"${i}":0`).join(',')}}`,
  'a long number': `{"text":${'9'.repeat(BODY_LIMIT - 10)}}`,
  'many prototypes': `{${'"__proto__":{"text":"x"},'.repeat(deep / 3)}"x":0}`,
}

export const slowHeaders: Record<string, Hostile> = {
  'never sends a byte': says(''),
  'sends a header now and then': goesOn('GET / HTTP/1.1\r\nHost: localhost\r\n', 'a: b\r\n', 100),
}
export const slowBodies: Record<string, Hostile> = {
  'sends a body byte by byte': goesOn(addNoteHead('Content-Length: 100000\r\n'), ' ', 100),
  'does not end its chunks': goesOn(addNoteHead(CHUNKED), '1\r\n \r\n', 100),
  'has much to say of every chunk': goesOn(
    addNoteHead(CHUNKED),
    `1;${'x'.repeat(15_000)}\r\n \r\n`,
    100,
  ),
}
export const oversized: Record<string, Hostile> = {
  'a body that goes on': goesOn(addNoteHead('Content-Length: 10000000\r\n'), ' '.repeat(1_000)),
  'a request line without end': goesOn('GET /', 'x'.repeat(1_000)),
  'headers without end': goesOn('GET / HTTP/1.1\r\nHost: localhost\r\n', 'a:\r\n'.repeat(300)),
  'trailers without end': goesOn(`${addNoteHead(CHUNKED)}0\r\n`, 'a: b\r\n'.repeat(200)),
  'a chunk extension without end': goesOn(`${addNoteHead(CHUNKED)}2`, ';a=b'.repeat(300)),
}
