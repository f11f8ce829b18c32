// Folders that are made, and names that are given once.
import { afterEach, expect, jest, test } from '@jest/globals'
import fs from 'node:fs'
import { join } from 'node:path'
import { makeFolder, renameNoReplace } from '../../src/chassis/files.ts'
import { newFolder } from '../support/readme.ts'

afterEach(() => void jest.restoreAllMocks())

const refuseLinks = (code: string) =>
  jest.spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error(), { code })
  })

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']
test.each([...NO_LINKS, ''])('a file gets a new name once, also if link says "%s"', (code) => {
  const folder = newFolder()
  const [from, to] = [join(folder, 'from'), join(folder, 'to')]
  fs.writeFileSync(from, 'first')
  if (code) refuseLinks(code)
  renameNoReplace(from, to)
  fs.writeFileSync(from, 'second')
  expect(() => renameNoReplace(from, to)).toThrow(expect.objectContaining({ code: 'EEXIST' }))
  expect([fs.readdirSync(folder), fs.readFileSync(to, 'utf8')]).toEqual([['from', 'to'], 'first'])
})

test('another failure of link is one', () => {
  refuseLinks('EIO')
  expect(() => renameNoReplace('/x/from', '/x/to')).toThrow(
    expect.objectContaining({ code: 'EIO' }),
  )
})

// With the option `recursive` of mkdirSync, the first two would never end.
test.each([
  ['/proc/x', 'ENOENT: no such file or directory, mkdir '],
  ['/dev/fd/x/y', 'ENOENT: no such file or directory, mkdir '],
  ['/dev/null/x', 'ENOTDIR: not a directory, mkdir '],
])('the folder %s cannot be made', (folder, message) => {
  expect(() => makeFolder(folder)).toThrow(message)
})
