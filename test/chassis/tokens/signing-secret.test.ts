// The signing secret: configured, or in a file beside the data.
import { beforeEach, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openSecrets } from '../../../src/chassis/tokens/signing-secret.ts'
import { newFolder } from '../../support/readme.ts'
import { SECRET } from '../support/requests.ts'

const OTHER = `another ${SECRET}`

let DATA_DIR: string
let file: string
beforeEach(() => {
  DATA_DIR = newFolder()
  file = join(DATA_DIR, 'signing-secret')
  said = []
})

let said: string[] = []
const log = { info: (text: string) => void said.push(text) }
const open = (SIGNING_SECRETS?: string[], SIGNING_SECRET?: string) =>
  openSecrets({ SIGNING_SECRET, SIGNING_SECRETS, DATA_DIR }, log)

test('those of the configuration are used, and no file is made', () => {
  expect(open([SECRET, OTHER])).toEqual([SECRET, OTHER])
  expect(open(undefined, SECRET)).toEqual([SECRET])
  expect([fs.readdirSync(DATA_DIR), said]).toEqual([[], []])
})

test('without one a secret is made once, in a file that only its owner can read, and the log says so', () => {
  const [secret] = open()
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  expect(fs.readFileSync(file, 'utf8')).toBe(`${secret}\n`)
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  expect(open()).toEqual([secret])
  expect(said).toEqual([`made a secret in ${file}`])
})

test('processes that start together use the same secret, and one says that it made it', async () => {
  const module = new URL('../../../dist/src/chassis/tokens/signing-secret.js', import.meta.url).href
  const config = JSON.stringify({ DATA_DIR })
  const program = `import { openSecrets } from '${module}'
    console.log(openSecrets(${config}, { info: console.error })[0])`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  const printed = await Promise.all([run(), run(), run()])
  expect(new Set(printed.map(({ stdout }) => stdout))).toEqual(new Set([`${open()[0]}\n`]))
  expect(printed.map(({ stderr }) => stderr).join('')).toBe(`made a secret in ${file}\n`)
  expect(fs.readdirSync(DATA_DIR)).toEqual(['signing-secret'])
})

const write = (text: string, mode = 0o600) => fs.writeFileSync(file, text, { mode })

test('the file can have several secrets, one in each line', () => {
  write(`${SECRET}\r\n${OTHER}\r\n`)
  expect(open()).toEqual([SECRET, OTHER])
})

const CHMOD = /: other accounts can read or write it; use chmod 600, or set SIGNING_SECRET$/

// SECURITY.md: A secret that others know is refused:
test.each<[string, () => void, RegExp]>([
  [
    'a line is too short',
    () => write(`${SECRET}\nx\n`),
    /: each line must have at least 32 bytes /,
  ],
  ['its group can write it', () => (write(SECRET), fs.chmodSync(file, 0o620)), CHMOD],
  ['others can read it', () => write(SECRET, 0o604), CHMOD],
  [
    'DATA_DIR is a file',
    () => fs.writeFileSync((DATA_DIR = file), ''),
    /: ENOTDIR: not a directory/,
  ],
])('the file is refused, and named, when %s', (_, make, reason) => {
  make()
  expect(() => open()).toThrow(`cannot use ${join(DATA_DIR, 'signing-secret')}: `)
  expect(() => open()).toThrow(reason)
})

const testAsRoot = process.geteuid?.() === 0 ? test : test.skip
// SECURITY.md: A secret that others know is refused:
testAsRoot('the file is refused when it belongs to another account', () => {
  write(SECRET)
  fs.chownSync(file, 12_345, 12_345)
  expect(() => open()).toThrow(/^cannot use .*: it belongs to another account; use chown, or set /)
})

test('the folder is made if it does not exist', () => {
  DATA_DIR = join(DATA_DIR, 'a', 'b')
  expect(open()).toEqual(open())
  expect(fs.statSync(DATA_DIR).mode & 0o077).toBe(0)
})
