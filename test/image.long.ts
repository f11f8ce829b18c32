// The health check of the Dockerfile, beside the service. (The image itself: image.suite.ts.)
import { expect, test } from '@jest/globals'
import { freePort, runToEnd, started, usePlace } from './support/program.ts'
import { read } from './support/readme.ts'

const place = usePlace()
const [, json] = /^HEALTHCHECK .*\\\n *CMD (.*)$/m.exec(read('Dockerfile'))!
const [shell, ...args]: string[] = JSON.parse(json!)

test.each([
  ['127.0.0.1', { HOST: '0.0.0.0', http_proxy: 'http://192.0.2.1:1' }],
  ['127.0.0.2', { HOST: ' 127.0.0.2 ', OPS_HOST: ' ' }],
  ['127.0.0.2', { HOST: '0.0.0.0', OPS_HOST: '127.0.0.2 ' }],
  ['127.0.0.1', { HOST: '::' }], // there may be no ::1
  ['127.0.0.1', { HOST: '::1', OPS_HOST: '0::0' }],
  ['::1', { HOST: '::1' }],
])('the image is healthy when %s is, with %j', async (OPS_HOST, variables) => {
  const env = { ...variables, OPS_PORT: ` ${await freePort()} ` }
  const service = await started(place, { ...env, OPS_HOST })
  const printed = runToEnd(shell!, args, { env: { PATH: process.env['PATH'], ...env } })
  expect(printed).toBe('')
  await service.stop('SIGKILL')
  expect(() => runToEnd(shell!, args, { env })).toThrow('Command failed')
})
