// Files of users, read and written, without a store: however their bytes are cut into chunks.
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import type { WriteStream } from 'node:tty'
import { gzipSync } from 'node:zlib'
import { csv, CSV_HEADER, readCsv } from '../../../scripts/transfer/csv.ts'
import { jsonLines, readJson } from '../../../scripts/transfer/json.ts'
import type { Line } from '../../../scripts/transfer/line.ts'
import { ndjson, readNdjson } from '../../../scripts/transfer/ndjson.ts'
import { progressLine, startProgress } from '../../../scripts/transfer/progress.ts'
import { readText } from '../../../scripts/transfer/text.ts'

type Reader = (text: AsyncIterable<string>) => AsyncIterable<Line[]>

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(
  reader: Reader,
  file: string | Buffer,
  size = Infinity,
  encoding?: string,
): Promise<Line[]> {
  const lines: Line[] = []
  const bytes = Buffer.from(file as string)
  for await (const some of reader(readText(inChunks(bytes, size), encoding))) lines.push(...some)
  return lines
}

/** What a file says, which is the same when it comes byte by byte. */
async function linesOf(reader: Reader, file: string | Buffer, encoding?: string): Promise<Line[]> {
  const lines = await read(reader, file, Infinity, encoding)
  for (const size of [1, 2, 3, 7]) expect(await read(reader, file, size, encoding)).toEqual(lines)
  return lines
}

const user = (line: number, name: string, email: string, id?: string): Line => ({
  line,
  fields: { name, email, id },
})

describe('CSV', () => {
  test.each<[string, string | Buffer, Line[]]>([
    ['a header and a record', 'name,email\nAda,a@x\n', [user(2, 'Ada', 'a@x')]],
    ['no line feed at its end', 'name,email\nAda,a@x', [user(2, 'Ada', 'a@x')]],
    [
      'CRLF',
      'name,email\r\nAda,a@x\r\nBob,b@x\r\n',
      [user(2, 'Ada', 'a@x'), user(3, 'Bob', 'b@x')],
    ],
    [
      'only CR',
      'name,email\rAda,a@x\r"Bob\rB",b@x\rCy,c@x',
      [user(2, 'Ada', 'a@x'), user(3, 'Bob\rB', 'b@x'), user(5, 'Cy', 'c@x')],
    ],
    [
      'first and last names',
      'Email_Address,Last-Name,FIRST NAME\na@x,L,Ada\nb@x,,Bob\nc@x,,\n',
      [user(2, 'Ada L', 'a@x'), user(3, 'Bob', 'b@x'), user(4, '', 'c@x')],
    ],
    ['only first names', 'email,Given name\na@x,Ada\n', [user(2, 'Ada', 'a@x')]],
    [
      'a column of names beside its parts',
      'email,first name,last name,name\na@x,Ada,L,Lady\n',
      [user(2, 'Lady', 'a@x')],
    ],
    [
      'another order, and other columns',
      'Phone,E-Mail,Full Name\n1,a@x,Ada\n',
      [user(2, 'Ada', 'a@x')],
    ],
    [
      'an id',
      `id,name,email\n${'a'.repeat(24)},Ada,a@x\n`,
      [user(2, 'Ada', 'a@x', 'a'.repeat(24))],
    ],
    ['semicolons', 'name;email\nAda, Lady;a@x\n', [user(2, 'Ada, Lady', 'a@x')]],
    ['tabs', 'name\temail\nAda\ta@x\n', [user(2, 'Ada', 'a@x')]],
    ['bars', 'name|email\nAda|a@x\n', [user(2, 'Ada', 'a@x')]],
    ['the separator line of Excel', 'sep=;\r\nname;email\r\nAda;a@x\r\n', [user(3, 'Ada', 'a@x')]],
    ['a byte order mark', '\uFEFFname,email\nAda,a@x\n', [user(2, 'Ada', 'a@x')]],
    ['quotes', '"name","email"\n"Ada ""the"" L","a,b@x"\n', [user(2, 'Ada "the" L', 'a,b@x')]],
    ['a quote within a field', 'name,email\nAda "the" L,a@x\n', [user(2, 'Ada "the" L', 'a@x')]],
    [
      'a line break within quotes',
      'name,email\n"Ada\r\nL",a@x\nBob,b@x\n',
      [user(2, 'Ada\r\nL', 'a@x'), user(4, 'Bob', 'b@x')],
    ],
    ['empty lines', '\n\nname,email\n\nAda,a@x\n,\n\n', [user(5, 'Ada', 'a@x')]],
    [
      'a carriage return that ends no line, as no other does',
      'name,email\nA\rB,a@x\nBob\n',
      [user(2, 'A\rB', 'a@x'), { line: 3, reason: 'it has 1 fields, the header has 2' }],
    ],
    ['two carriage returns at its lines', 'email,name\r\r\na@x,Ada\r\r\n', [user(2, 'Ada', 'a@x')]],
    ['an empty field', 'name,email\nAda,\n,b@x\n', [user(2, 'Ada', ''), user(3, '', 'b@x')]],
    ['empty fields behind the last', 'name,email\nAda,a@x,,\n', [user(2, 'Ada', 'a@x')]],
    ['spaces in names, which are kept', 'name, email\n Ada ,a@x\n', [user(2, ' Ada ', 'a@x')]],
    [
      'spaces around emails, which are kept only in quotes',
      'email,name\n a@x ,Ada\n" b@x ",Bob\n',
      [user(2, 'Ada', 'a@x'), user(3, 'Bob', ' b@x ')],
    ],
    [
      'spaces around quotes',
      '"name", "email"\n"Ada, L" ,  "a@x" \nBob, "b@x"\n',
      [user(2, 'Ada, L', 'a@x'), user(3, 'Bob', 'b@x')],
    ],
    [
      'a quote behind a space within a field',
      'name,email,x\n "Ada" L,a@x,\n',
      [user(2, ' "Ada" L', 'a@x')],
    ],
    [
      'less than all columns, if none of those is missing that are read',
      'name,email,phone,fax\nAda,a@x\n',
      [user(2, 'Ada', 'a@x')],
    ],
    ['an empty line before semicolons', '\r\n \nname;email\nAda;a@x\n', [user(4, 'Ada', 'a@x')]],
    ['a line break in a title', '"a\n,b";name;email\n1;Ada;a@x\n', [user(3, 'Ada', 'a@x')]],
    [
      "the columns of Google's contacts",
      'First Name,Middle Name,Last Name,E-mail 1 - Value\nAda,K,L,a@x\n',
      [user(2, 'Ada K L', 'a@x')],
    ],
    [
      'UTF-16, big endian',
      Buffer.from('\uFEFFname,email\nÄda 💩,a@x\n', 'utf16le').swap16(),
      [user(2, 'Äda 💩', 'a@x')],
    ],
    [
      'UTF-16',
      Buffer.from('\uFEFFname\temail\nÄda 💩\ta@x\n', 'utf16le'),
      [user(2, 'Äda 💩', 'a@x')],
    ],
    ['gzip', gzipSync('name,email\nÄda,a@x\n'), [user(2, 'Äda', 'a@x')]],
    [
      'every plane',
      'name,email\né\u0301\u{10FFFF}\uFFFD\0,a@x\n',
      [user(2, 'é\u0301\u{10FFFF}\uFFFD\0', 'a@x')],
    ],
  ])('may have %s', async (_, file, lines) => {
    expect(await linesOf(readCsv, file)).toEqual(lines)
  })

  const broken = (reason: RegExp) => ({ line: 3, reason: expect.stringMatching(reason) as never })

  test.each<[string, string, RegExp]>([
    ['too few fields', 'Bob', /^it has 1 fields, the header has 2$/],
    ['too many fields', 'Bob,b@x,1', /^it has 3 fields, the header has 2$/],
    ['text behind a quote', '"Bob" B,b@x', /^its quotes are broken$/],
    ['a quote that is not closed', '"Bob,b@x', /^its quotes are broken$/],
    ['bytes that are no UTF-8', 'B\xF6b,b@x', /^it has bytes that are no text/],
  ])('%s break one line, and no other', async (_, line, reason) => {
    const [before, after] = ['name,email\nAda,a@x\n', '\n"Zoë, Z",z@x\nDan,d@x\n']
    const file = Buffer.concat([
      Buffer.from(before),
      Buffer.from(line, 'latin1'),
      Buffer.from(after),
    ])
    expect(await linesOf(readCsv, file)).toEqual([
      user(2, 'Ada', 'a@x'),
      broken(reason),
      user(4, 'Zoë, Z', 'z@x'),
      user(5, 'Dan', 'd@x'),
    ])
  })

  test('a quote that is not closed breaks one line, though there is none behind it', async () => {
    expect(await linesOf(readCsv, 'name,email\n"Ada,a@x\nBob,b@x\n')).toEqual([
      { line: 2, reason: 'its quotes are broken' },
      user(3, 'Bob', 'b@x'),
    ])
  })

  test('a record whose quotes are broken ends with its line, with only CR, too', async () => {
    expect(await linesOf(readCsv, 'name,email\r"Ada,a@x\rBob,b@x\r')).toEqual([
      { line: 2, reason: 'its quotes are broken' },
      user(3, 'Bob', 'b@x'),
    ])
  })

  test('is of another encoding when that is named', async () => {
    const file = Buffer.from('name,email\nZo\xeb,z@x\n', 'latin1')
    expect(await linesOf(readCsv, file, 'windows-1252')).toEqual([user(2, 'Zoë', 'z@x')])
  })

  test.each<[string, Buffer, string | undefined]>([
    ['UTF-16', Buffer.from('\uFEFFname,email\nA\uD800B,a@x\nBob,b@x\n', 'utf16le'), undefined],
    ['Shift JIS', Buffer.from('name,email\nA\x81\xff,a@x\nBob,b@x\n', 'latin1'), 'shift_jis'],
  ])('what is no text in %s is refused', async (_, file, encoding) => {
    expect(await linesOf(readCsv, file, encoding)).toEqual([
      { line: 2, reason: expect.stringMatching(/^it has bytes that are no text/) },
      user(3, 'Bob', 'b@x'),
    ])
  })

  test('may call its columns otherwise when told', async () => {
    const reader = (text: AsyncIterable<string>) =>
      readCsv(text, { name: 'Nom', email: 'Courriel' })
    expect(await linesOf(reader, 'Courriel;Nom\na@x;Ada\n')).toEqual([user(2, 'Ada', 'a@x')])
    const first = (text: AsyncIterable<string>) => readCsv(text, { name: 'FIRST-name' })
    expect(await linesOf(first, 'Last name,first name,email\nL,Ada,a@x\n')).toEqual([
      user(2, 'Ada', 'a@x'),
    ])
    const nameless = (text: AsyncIterable<string>) => readCsv(text, { name: '' })
    expect(await linesOf(nameless, 'email\na@x\n')).toEqual([user(2, '', 'a@x')])
  })

  test.each([
    ['', 'the file is empty'],
    ['Nom,Email\nAda,a@x\n', 'there is no column `name`, but Nom, Email: --name-column'],
    ['name,phone\nAda,1\n', 'there is no column `email`, but name, phone: --email-column'],
  ])('%j is refused: %s', async (file, message) => {
    await expect(read(readCsv, file)).rejects.toThrow(message)
  })
})

const object = (line: number, fields: Record<string, unknown>): Line => ({ line, fields })

describe('NDJSON', () => {
  test.each<[string, string | Buffer, Line[]]>([
    [
      'an object a line',
      '{"name":"a"}\n{"name":"b"}\r\n',
      [object(1, { name: 'a' }), object(2, { name: 'b' })],
    ],
    ['no line feed at its end', '{"name":"a"}', [object(1, { name: 'a' })]],
    ['empty lines', '\n{"name":"a"}\n\n', [object(2, { name: 'a' })]],
    ['a byte order mark', '\uFEFF{"name":"a"}\n', [object(1, { name: 'a' })]],
  ])('may have %s', async (_, file, lines) => {
    expect(await linesOf(readNdjson, file)).toEqual(lines)
  })

  test.each([
    ['{"name":"b"', 'it is not valid JSON'],
    ['["b"]', 'it is no JSON object'],
    ['7', 'it is no JSON object'],
    ['null', 'it is no JSON object'],
  ])('%s breaks one line, and no other', async (line, reason) => {
    expect(await linesOf(readNdjson, `{"name":"a"}\n${line}\n{"name":"c"}\n`)).toEqual([
      object(1, { name: 'a' }),
      { line: 2, reason },
      object(3, { name: 'c' }),
    ])
  })
})

describe('JSON', () => {
  test.each<[string, string, Line[]]>([
    [
      'an array',
      '[{"name":"a"},{"name":"b"}]',
      [object(1, { name: 'a' }), object(1, { name: 'b' })],
    ],
    [
      'many lines',
      '[\n  {\n "name": "a" },\n\n{"name":"b"}\n]\n',
      [object(2, { name: 'a' }), object(5, { name: 'b' })],
    ],
    [
      'CRLF',
      '[\r\n{"name":"a"},\r\n{"name":"b"}\r\n]\r\n',
      [object(2, { name: 'a' }), object(3, { name: 'b' })],
    ],
    ['no element', ' [ ] ', []],
    [
      'brackets and quotes in texts',
      '[{"name":"]}\\"\\\\"},{"name":"b"}]',
      [object(1, { name: ']}"\\' }), object(1, { name: 'b' })],
    ],
    ['other fields', '[{"a":[{"b":[]}],"name":"x"}]', [object(1, { a: [{ b: [] }], name: 'x' })]],
  ])('may have %s', async (_, file, lines) => {
    expect(await linesOf(readJson, file)).toEqual(lines)
  })

  test.each([
    ['7', 'it is no JSON object'],
    ['"b"', 'it is no JSON object'],
    ['{"name":b}', 'it is not valid JSON'],
    ['{"name":"b"]', 'it is not valid JSON'],
  ])('%s breaks one element, and no other', async (element, reason) => {
    expect(await linesOf(readJson, `[{"name":"a"},\n${element},\n{"name":"c"}\n]`)).toEqual([
      object(1, { name: 'a' }),
      { line: 2, reason },
      object(3, { name: 'c' }),
    ])
  })

  test.each(['{"name":"b', '{"name":"b","x":'])(
    '%s, which does not end, breaks one line',
    async (element) => {
      expect(await linesOf(readJson, `[{"name":"a"},\n${element},\n{"name":"c"}\n]`)).toEqual([
        object(1, { name: 'a' }),
        { line: 2, reason: expect.stringMatching(/does not end|not valid/) as never },
        object(3, { name: 'c' }),
      ])
    },
  )

  const NOT_VALID = 'it is not valid JSON'

  test('elements with a quote missing break, each of them and no other', async () => {
    const elements = [
      '{"name":"a","email":"a@x}',
      '{"name":"b"}',
      '{"name":"c","email":"c@x}',
      '{"name":"d"}',
    ]
    expect(await linesOf(readJson, `[ ${elements.join(',\n')} ]`)).toEqual([
      { line: 1, reason: NOT_VALID },
      object(2, { name: 'b' }),
      { line: 3, reason: NOT_VALID },
      object(4, { name: 'd' }),
    ])
  })

  test.each<[string, string[]]>([
    ['{"name":"b"', [',\n', ',']],
    ['{"name":"b","x":{', [',\n', ',']],
    ['{"name":"b","x":[}', [',\n', ',']],
    ['{"name":"b","x":[1', [',\n']],
  ])(
    '%s, in which a bracket is wrong, breaks one element, and no other',
    async (element, separators) => {
      for (const between of separators) {
        const file = `[{"name":"a"}${between}${element}${between}{"name":"c"}${between}{"name":"d"}]`
        const lines = await linesOf(readJson, file)
        expect(lines.map((line) => ('fields' in line ? line.fields['name'] : line.reason))).toEqual(
          ['a', NOT_VALID, 'c', 'd'],
        )
      }
    },
  )

  test('what is within a broken element is none, in a line or in many', async () => {
    const tags = [{ name: 'x' }, { name: 'y' }]
    const elements = ['a', 'b', 'c'].map((name) => ({ name, tags, email: `${name}@x` }))
    for (const [indent, lines] of [
      [undefined, [1, 1, 1]],
      [2, [2, 14, 26]],
    ] as const) {
      const file = JSON.stringify(elements, undefined, indent)
      for (const wrong of ['b@x', '"b@x', '"b@x",']) {
        if (indent === undefined && wrong === '"b@x') continue // which may be a string up to any other
        const [one, two, three] = await linesOf(
          readJson,
          file.replace('"b@x"', () => wrong),
        )
        expect([one, two, three]).toEqual([
          object(lines[0], elements[0]!),
          { line: lines[1], reason: NOT_VALID },
          object(lines[2], elements[2]!),
        ])
      }
    }
  })

  test('brackets of a broken element do not end the array', async () => {
    const broken = '{"name":"b","tags":{"a":1},{"a":2}]}'
    const lines = await linesOf(readJson, `[\n{"name":"a"},\n${broken},\n{"name":"c"}\n]\n`)
    expect(lines.filter((line) => 'reason' in line).map(({ line }) => line)).toContain(3)
    expect(lines.filter((line) => line.line !== 3)).toEqual([
      object(2, { name: 'a' }),
      object(4, { name: 'c' }),
    ])
  })

  test('what comes before the end of an array is told, whatever is behind', async () => {
    const lines: Line[] = []
    const reading = (async () => {
      const text = readText(inChunks(Buffer.from('[{"name":"a"}] x'), Infinity))
      for await (const some of readJson(text)) lines.push(...some)
    })()
    await expect(reading).rejects.toThrow('something behind')
    expect(lines).toEqual([object(1, { name: 'a' })])
  })

  test('an element of many lines that is broken is told of once', async () => {
    const [good, broken] = ['{\n  "name": "a"\n}', '{\n  "name": "b,\n  "email": "b@x"\n}']
    expect(await linesOf(readJson, `[\n${good},\n${broken},\n${good}\n]`)).toEqual([
      object(2, { name: 'a' }),
      { line: 5, reason: NOT_VALID },
      object(9, { name: 'a' }),
    ])
  })

  test('in one line an element that is too long breaks itself alone', async () => {
    const long = `{"name":"${'x'.repeat(9_000_000)}"}`
    for (const size of [65_536, 9_000_050]) {
      const lines = await read(readJson, `[{"name":"a"},${long} , {"name":"c"},{"name":"d"}]`, size)
      expect(lines).toEqual([
        object(1, { name: 'a' }),
        { line: 1, reason: 'it is longer than 8,500,000 characters' },
        object(1, { name: 'c' }),
        object(1, { name: 'd' }),
      ])
    }
  })

  test.each([
    ['', 'the file is empty'],
    ['{"users":[]}', 'the file is no JSON array'],
    ['[{"name":"a"},', 'the JSON array does not end'],
    ['[] []', 'there is something behind the JSON array'],
  ])('%j is refused: %s', async (file, message) => {
    await expect(read(readJson, file)).rejects.toThrow(message)
  })
})

test.each<[string, Reader, string, string, string]>([
  ['CSV', readCsv, 'name,email\n', 'x,', '\nA,a@x\n'],
  ['CSV with CRLF', readCsv, 'name,email\r\n', 'x,', '\r\nA,a@x\r\n'],
  ['CSV with CR', readCsv, 'name,email\r', 'x,', '\rA,a@x\r'],
  ['CSV with an open quote', readCsv, 'name,email\n"', 'x,', '\nA,a@x\n'],
  ['NDJSON', readNdjson, '\n', '[,', '\n{"name":"A","email":"a@x"}\n'],
  ['JSON', readJson, '[\n{"', 'x,', '\n,{"name":"A","email":"a@x"}]'],
])(
  'a line of %s that is too long is told of once, and the next is read',
  async (_, reader, ...parts) => {
    const [before, part, after] = parts
    const file = Buffer.from(`${before}${part.repeat(5_000_000)}${after}`)
    for (const size of [65_536, file.length - after.length + 1]) {
      const [first, second, ...more] = await read(reader, file, size)
      expect(first).toEqual({ line: 2, reason: 'it is longer than 8,500,000 characters' })
      expect(second).toMatchObject({ line: 3, fields: { name: 'A', email: 'a@x' } })
      expect(more).toEqual([])
    }
  },
)

test.each<[string, Reader, Buffer]>([
  ['CSV', readCsv, Buffer.from('name,email\nZoë \uFFFD,a\nZ\0ë,b\nZoë,c\n')],
  ['CSV with CR', readCsv, Buffer.from('name,email\rZoë \uFFFD,a\rZ\0ë,b\rZoë,c\r')],
  ['JSON', readJson, Buffer.from('[{"name":"Zoë \uFFFD"},{"name":"Z\0ë"},{"name":"Zoë"}]')],
])('a byte in %s that is no UTF-8 breaks one record, and no other', async (_, reader, file) => {
  file[file.indexOf(0)] = 0xff
  const [one, two, three] = await linesOf(reader, file)
  expect(one).toMatchObject({ fields: { name: 'Zoë \uFFFD' } })
  expect(two).toMatchObject({ reason: expect.stringMatching(/no text/) })
  expect(three).toMatchObject({ fields: { name: 'Zoë' } })
})

test('gzip that is cut short is refused', async () => {
  const file = gzipSync('name,email\nAda,a@x\n').subarray(0, 25)
  await expect(read(readCsv, file)).rejects.toThrow('unexpected end of file')
})

test.each<[string, Reader, (users: { id: string; name: string; email: string }[]) => string]>([
  ['CSV', readCsv, (users) => CSV_HEADER + csv(users)],
  ['NDJSON', readNdjson, ndjson],
  ['JSON', readJson, (users) => `[${jsonLines(users)}]`],
])('%s brings every text back as it was', async (_, reader, write) => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', ',', ';', '\n', '\r', ' ', '\\', '\0', 'a', '\uFEFF') }),
  )
  const users = fc.array(fc.record({ id: fc.constant('a'.repeat(24)), name: text, email: text }))
  await fc.assert(
    fc.asyncProperty(users, fc.integer({ min: 1, max: 100 }), async (users, size) => {
      const lines = await read(reader, write(users), size)
      expect(lines.map((line) => 'fields' in line && line.fields)).toEqual(users)
    }),
  )
})

test('the progress tells the part that is done, the rate and the time left, where they are known', () => {
  expect(progressLine({ users: 1_500_000, part: 0.25 }, 10)).toBe(
    '[#####               ] 25 %  1,500,000 users  150,000 users/s  30 s left',
  )
  expect(progressLine({ users: 20 }, 10)).toBe('20 users  2 users/s')
})

describe('the progress', () => {
  const state = () => ({ users: 1_500, part: 0.25 })
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  function shownOn(
    terminal: { isTTY?: boolean; columns?: number },
    milliseconds: number,
  ): string[] {
    const shown: string[] = []
    const write = (text: string) => shown.push(text) > 0
    const progress = startProgress(state, { ...terminal, write } as WriteStream)
    jest.advanceTimersByTime(milliseconds)
    progress.stop()
    return shown
  }

  test('is one line in a terminal, no wider than that, and goes in the end', () => {
    expect(shownOn({ isTTY: true, columns: 30 }, 250)).toEqual([
      '\r\x1b[K[#####               ] 25 %  ',
      '\r\x1b[K[#####               ] 25 %  ',
      '\r\x1b[K',
    ])
    expect(shownOn({ isTTY: true, columns: 0 }, 150)[0]).toMatch(/ 1 s left$/) // it is not known
  })

  test('is a line every five seconds elsewhere', () => {
    const line = '[#####               ] 25 %  1,500 users  300 users/s  15 s left\n'
    expect(shownOn({}, 5_500)).toEqual([line])
  })
})
