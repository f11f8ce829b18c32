// The report of an import.
import { expect, jest, test } from '@jest/globals'
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openReport } from '../../../scripts/transfer/report.ts'
import { useTransfers } from '../../support/transfers.ts'

const { folder, file } = useTransfers()

const REASON = 'it is the input, a link or not a file'

test('a report lists lines, and only its owner may read it', () => {
  const [input, path] = [statSync(file('people.csv', 'x')), file('report.txt', 'of before')]
  const report = openReport(undefined, path, input)
  report.refuse('line 3', 'it is \x1b[31mred')
  expect(report.close()).toBe(`; see ${path}`)
  expect(readFileSync(path, 'utf8')).toBe('line 3: it is \\u001b[31mred\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('an empty report stays only if it was asked for', () => {
  const [input, usual] = [statSync(file('people.csv', 'x')), file('report.txt', 'of before')]
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

test('refused lines are printed where no report can be written', () => {
  const said: string[] = []
  const spy = jest.spyOn(console, 'error').mockImplementation((text) => void said.push(text))
  const report = openReport(undefined, folder(), statSync(file('people.csv', 'x')))
  report.refuse('line 3', 'it is broken')
  expect(report.close()).toBe('')
  spy.mockRestore()
  const first = `the report cannot be written to ${folder()}: ${REASON}; refused lines are printed here`
  expect(said).toEqual([first, 'line 3: it is broken'])
})
