// The signing secret: configured, or in a file beside the data.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openSecrets } from '../../src/auth/signing-secret.ts'
import { SECRET } from '../support/stores.ts'

const OTHER = `another ${SECRET}`

let dataDir: string
let file: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'users-service-'))
  file = join(dataDir, 'signing-secret')
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const open = (signingSecrets: string[] = []) => openSecrets({ signingSecrets, dataDir })

test('those of the configuration are used, and no file is made', () => {
  expect(open([SECRET, OTHER])).toEqual([SECRET, OTHER])
  expect(readdirSync(dataDir)).toEqual([])
})

test('without one a secret is made once, in a file that only its owner can read', () => {
  const [secret] = open()
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  expect(readFileSync(file, 'utf8')).toBe(`${secret}\n`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(open()).toEqual([secret])
})

test('processes that start together use the same secret', async () => {
  const module = new URL('../../dist/src/auth/signing-secret.js', import.meta.url).href
  const config = JSON.stringify({ signingSecrets: [], dataDir })
  const program = `import { openSecrets } from '${module}'; console.log(openSecrets(${config})[0])`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  const printed = await Promise.all([run(), run(), run()])
  expect(new Set(printed.map(({ stdout }) => stdout))).toEqual(new Set([`${open()[0]}\n`]))
  expect(readdirSync(dataDir)).toEqual(['signing-secret'])
})

test('the file can have several secrets, one in each line', () => {
  writeFileSync(file, `${SECRET}\n${OTHER}\n`, { mode: 0o600 })
  expect(open()).toEqual([SECRET, OTHER])
})

describe('the file is refused', () => {
  test('when a line is too short', () => {
    writeFileSync(file, `${SECRET}\nshort\n`, { mode: 0o600 })
    expect(() => open()).toThrow(`cannot use ${file}: each line must have at least 32 bytes`)
  })

  test('when it cannot be read', () => {
    mkdirSync(file)
    expect(() => open()).toThrow(/^cannot use .*signing-secret: /)
  })
})

describe('a file is refused', () => {
  test('that other users can read or write', () => {
    writeFileSync(file, SECRET, { mode: 0o644 })
    expect(() => open()).toThrow(/^cannot use .*: other users can read or write it; use chmod 600$/)
  })

  test('that is a link', () => {
    writeFileSync(`${file}.other`, SECRET, { mode: 0o600 })
    symlinkSync(`${file}.other`, file)
    expect(() => open()).toThrow(/^cannot use .*: ELOOP/)
  })

  const testAsRoot = process.geteuid?.() === 0 ? test : test.skip
  testAsRoot('that belongs to another user', () => {
    writeFileSync(file, SECRET, { mode: 0o600 })
    chownSync(file, 12_345, 12_345)
    expect(() => open()).toThrow(/^cannot use .*: it belongs to another user$/)
  })
})
