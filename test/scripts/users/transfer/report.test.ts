// The report of an import.
import { expect, jest, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openReport } from '../../../../scripts/users/transfer/report.ts'
import { useTransfers } from '../../../support/transfers.ts'

const { folder, file } = useTransfers()

const EARLIER = 'line 7, element 2: it is of before\n'
const REASON = 'it is the input, a link or not a file'

test('a report lists lines, and only its owner may read it', () => {
  const [input, path] = [statSync(file('people.csv', 'x')), file('report.txt', EARLIER)]
  const report = openReport(undefined, path, input)
  report.add('line 3', 'it is \x1b[31mred')
  expect(report.close()).toBe(`; see ${path}`)
  expect(readFileSync(path, 'utf8')).toBe('line 3: it is \\u001b[31mred\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('an empty report stays only if it was asked for', () => {
  const [input, usual] = [statSync(file('people.csv', 'x')), file('report.txt', EARLIER)]
  const asked = join(folder(), 'asked.txt')
  expect(openReport(undefined, usual, input).close()).toBe('')
  expect(openReport(asked, usual, input).close()).toBe('')
  expect([existsSync(usual), readFileSync(asked, 'utf8')]).toEqual([false, ''])
})

test('a report is never written over the input, through a link or to a device', () => {
  const people = file('people.csv', 'users')
  const [link, nowhere] = [join(folder(), 'link'), join(folder(), 'nowhere')]
  symlinkSync(nowhere, link)
  for (const asked of [people, link, folder(), '/dev/null']) {
    const message = `the report cannot be written to ${asked}: ${REASON}`
    expect(() => openReport(asked, '-', statSync(people))).toThrow(message)
  }
  expect([readFileSync(people, 'utf8'), existsSync(nowhere)]).toEqual(['users', false])
})

test.each(['', EARLIER, 'line 1: it is'])('an earlier report, %j, is replaced', (content) => {
  const [input, asked] = [statSync(file('people.csv', 'x')), file('asked.txt', content)]
  expect(openReport(asked, '-', input).close()).toBe('')
  expect(readFileSync(asked, 'utf8')).toBe('')
})

test.each(['x', 'line one', 'outline 1: x', 'line 1', `SQLite format 3\0${EARLIER}`])(
  'a file that is not a report, %j, is replaced only by --force',
  (content) => {
    const [input, path] = [statSync(file('people.csv', 'x')), file('asked.txt', content)]
    const message = `${path} exists and is not a report of import-users: --force overwrites it`
    expect(() => openReport(path, '-', input)).toThrow(message)
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(readdirSync(folder()).toSorted()).toEqual(['asked.txt', 'people.csv'])
    openReport(path, '-', input, true).close()
    expect(readFileSync(path, 'utf8')).toBe('')
  },
)

test('of two imports of a file at once, each has its report', () => {
  const [input, path] = [statSync(file('people.csv', 'x')), file('report.txt', EARLIER)]
  const first = openReport(undefined, path, input)
  file('report.txt', 'line 3: of another import\n') // meanwhile
  first.add('line 3', 'of this import')
  const [, where] = first.close().split('; see ')
  expect(readFileSync(where!, 'utf8')).toBe('line 3: of this import\n')
  expect(readFileSync(path, 'utf8')).toBe('line 3: of another import\n')
  openReport(undefined, path, input).close()
  expect(existsSync(path)).toBe(false)
})

test('refused lines are printed where no report can be written', () => {
  const said: string[] = []
  const spy = jest.spyOn(console, 'error').mockImplementation((text) => void said.push(text))
  const report = openReport(undefined, folder(), statSync(file('people.csv', 'x')))
  report.add('line 3', 'it is broken')
  expect(report.close()).toBe('')
  spy.mockRestore()
  const first = `the report cannot be written to ${folder()}: ${REASON}; what it would list is printed here`
  expect(said).toEqual([first, 'line 3: it is broken'])
})
