// The judge of the table at the end of a test run.
import { describe, expect, test } from '@jest/globals'
import { coverage, type Contract } from './coverage.ts'

const schema = { type: 'object', properties: { id: {}, age: {} } }
const contract: Contract & { schemas: object } = {
  paths: {
    '/users': {
      get: {
        operationId: 'listUsers',
        responses: {
          200: {
            content: { 'application/json': { schema: { items: { $ref: '#/schemas/User' } } } },
          },
          401: {},
        },
      },
    },
  },
  'x-responses-outside-operations': { 404: {}, 405: {} },
  schemas: { User: schema },
}
const ALL = [
  '200 listUsers',
  'field 200 listUsers: id',
  'field 200 listUsers: age',
  '401 listUsers',
  '405 another method of /users',
  '404 no operation',
]

const faults = (lines: string[]) => coverage(contract, lines).faults

test('finds nothing wrong when everything was seen, and nothing else', () => {
  expect(faults(ALL)).toEqual([])
})

describe('finds', () => {
  test.each(ALL)('that %s was never seen', (line) => {
    expect(faults(ALL.filter((other) => other !== line))).toEqual([`${line}: never seen`])
  })

  test('what is not documented', () => {
    expect(faults([...ALL, '418 listUsers'])).toEqual(['418 listUsers: not documented'])
  })
})

test('shows a row for each operation and a column for each status', () => {
  const { table } = coverage(contract, ['200 listUsers', '200 listUsers'])
  expect(table.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
    ['', '200', '401', '404', '405'],
    ['listUsers', '2', 'NEVER', ''],
    ['another method of /users', 'NEVER'],
    ['no operation', 'NEVER', ''],
  ])
})
