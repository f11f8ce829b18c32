// Encodings and compression.
import { expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import { readCsv } from '../../../../scripts/users/transfer/csv.ts'
import type { Line } from '../../../../scripts/users/transfer/lines.ts'
import { read, readAnyhow } from '../../../support/transfers.ts'

const TEXT = 'name,email\r\nÄda 💩\u{10FFFF}\uFFFD\0,a@x\r\n'
const user = { line: 2, fields: { name: 'Äda 💩\u{10FFFF}\uFFFD\0', email: 'a@x' } }

test.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a mark', Buffer.from(`\uFEFF${TEXT}`)],
  ['UTF-16', Buffer.from(`\uFEFF${TEXT}`, 'utf16le')],
  ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le')],
  ['big-endian UTF-16 without a mark', Buffer.from(TEXT, 'utf16le').swap16()],
  ['big-endian UTF-16', Buffer.from(`\uFEFF${TEXT}`, 'utf16le').swap16()],
  ['gzip', gzipSync(TEXT)],
  ['UTF-16 in gzip', gzipSync(Buffer.from(`\uFEFF${TEXT}`, 'utf16le'))],
])('%s is read as it is', async (_, file) => {
  expect(await readAnyhow(readCsv, file)).toMatchObject([user])
})

test.each([
  ['windows-1252', 'Zo\xeb \x80', 'Zoë €'],
  ['shift_jis', '\x83\x7b', 'ボ'],
])('%s is read when it is named', async (encoding, bytes, name) => {
  const file = Buffer.from(`name,email\n${bytes},z@x\n`, 'latin1')
  expect(await readAnyhow(readCsv, file, encoding)).toMatchObject([{ fields: { name } }])
})

const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')

test.each<[string, Buffer, string | undefined]>([
  ['utf-8', Buffer.from('name,email\nZo\xc3\xab,a\nB\xff,b\nC,c\n', 'latin1'), undefined],
  ['utf-8', Buffer.from('name,email\nZoe,a\nB,b\xc3', 'latin1'), undefined],
  ['utf-8', Buffer.from('name,email\nZoe,a\n\x83\x81\x81\x5b,b\n', 'latin1'), undefined],
  ['utf-8', Buffer.from('name,email\nZoe,a\n\x89\xaa\x93\x63,b\n', 'latin1'), undefined],
  ['utf-16le', utf16('name,email\nZoë,a\nA\uD800B,b\nC,c\n'), undefined],
  ['utf-16le', utf16('name,email\nZoë,a\nB,b').subarray(0, -1), undefined],
  ['shift_jis', Buffer.from('name,email\nZoe,a\nB\x81\xff,b\nC,c\n', 'latin1'), 'shift_jis'],
])('what is not valid %s ends the file after the line before', async (name, file, encoding) => {
  const advice = name === 'utf-8' ? 'ask which program wrote the file' : 'see --encoding'
  for (const size of [5, 1_000]) {
    const found: Line[] = []
    const reading = read(readCsv, file, size, encoding, found)
    await expect(reading).rejects.toThrow(`line 3 is not valid ${name} text: ${advice}`)
    expect(found.map(({ line }) => line)).toEqual([2])
  }
})

test.each([
  ['windows-1250', 'Zo\xeb\n\xa3ukasz'],
  ['windows-1254', 'Ay\xfee'],
  ['one line of Latin-1', 'Zo\xc3\xab\nZo\xeb'],
])('no encoding is advised, because bytes do not show it: %s', async (_, names) => {
  const file = Buffer.from(`name,email\n${names.replace('\n', ',a\n')},b\n`, 'latin1')
  const message = await read(readCsv, file).catch((error: Error) => error.message)
  expect(message).toMatch(/^line [23] is not valid utf-8 text: /)
  expect(message).not.toMatch(/windows|iso|latin/i)
})

test.each([
  ['.xlsx', 'PK\x03\x04\x14'],
  ['.xls', '\xd0\xcf\x11\xe0\xa1'],
])('a file that is in fact %s gets the advice to save it as CSV', async (_, start) => {
  const file = Buffer.from(`${start}, and more`, 'latin1')
  for (const bytes of [file, gzipSync(file)]) {
    const reading = read(readCsv, bytes, 3)
    await expect(reading).rejects.toThrow('a spreadsheet cannot be read or written: use CSV')
  }
})

test('gzip that is cut short fails', async () => {
  const file = gzipSync('name,email\nAda,a@x\n').subarray(0, 25)
  await expect(read(readCsv, file)).rejects.toThrow('unexpected end of file')
})
