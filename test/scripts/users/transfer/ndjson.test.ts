// Newline-delimited JSON.
import { expect, test } from '@jest/globals'
import { read, readAnyhow } from '../../../support/transfers.ts'

const ID = 'a'.repeat(24)

test.each([
  ['empty lines', '\n{"email":"a@x","name":"A"}\r\n\n', '2 A <a@x>'],
  ['a byte order mark', '\uFEFF{"name":"A","email":"a@x"}\n', '1 A <a@x>'],
  ['keys in capitals', '{"Name":"A","EMAIL":"a@x","ID":null}\n', '1 A <a@x>'],
  ['no users', '\n'],
  ['no name', '{"name":null,"email":"a@x"}\n', '1  <a@x>'],
  ['ids of MongoDB', `{"_id":{"$oid":"${ID}"},"name":"A","email":""}\n`, `1 A <> ${ID}`],
])('a file may have %s', async (_, file, ...lines) => {
  expect(await readAnyhow('ndjson', file)).toEqual(lines)
})

const OTHERS = 'its columns are not name, email and perhaps id'
const NO_TEXT = 'its name is not a text'

test.each([
  ['{"name":"b"', 'it is not a JSON object'],
  ['{}', 'it has neither an email nor an id: the next import would store it again'],
  ['{"email":"b@x","fullName":"B"}', OTHERS],
  ['{"name":"B","email":"b@x","age":1}', OTHERS],
  ['{"name":7,"email":"b@x"}', NO_TEXT],
  ['{"name":{"$oid":"B"},"email":"b@x"}', NO_TEXT],
  ['{"name":"\\ud800","email":"b@x"}', 'field `name` must not contain a lone surrogate'],
  ['{"name":"B\\nC","email":"b@x"}', 'its name has a line break'],
])('the line %s is refused, and no other', async (line, reason) => {
  const [first, last] = ['{"name":"A","email":"a@x"}', '{"email":"c@x","name":"C"}']
  const lines = await readAnyhow('ndjson', `${first}\n${line}\n${last}\n`)
  expect(lines).toEqual(['1 A <a@x>', `2: ${reason}`, '3 C <c@x>'])
})

const JQ = /^line \d is not a JSON object. Let jq .*\n +jq -c '/
test.each([
  ['[{"name":"a"}]', JQ],
  ['\n [\n{"name":"a"}\n]\n', JQ],
])('the file %j is refused as a whole', async (file, message) => {
  await expect(read('ndjson', file)).rejects.toThrow(message)
})
