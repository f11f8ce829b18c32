// Encodings, and lines that are too long.
import { expect, test } from '@jest/globals'
import { read } from '../../../support/transfers.ts'

const TEXT = 'name,email\nZoë,z@x\n'
const WRONG = 'is not UTF-8: convert the file with iconv -f ENCODING -t UTF-8'

test.each([
  ['Latin-1', Buffer.from(TEXT, 'latin1'), `line 2 ${WRONG}`],
  ['UTF-16', Buffer.from(`\uFEFF${TEXT}`, 'utf16le'), `line 1 ${WRONG}`],
  ['gzip', Buffer.from('1f8b08000000', 'hex'), `line 1 ${WRONG}`],
  ['half a character', Buffer.from(TEXT).subarray(0, TEXT.indexOf('ë') + 1), `line 2 ${WRONG}`],
  ['a long line', `name,email\n${'x'.repeat(2_000_000)}`, 'line 2 is longer than 1,100,000 bytes'],
])('%s ends the import, and the line is named', async (_, file, message) => {
  for (const size of [Math.ceil(file.length / 2), Infinity])
    await expect(read('csv', file, { size })).rejects.toThrow(message)
})
