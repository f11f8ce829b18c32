// The health check of the Dockerfile, beside the service. (The image itself: image.suite.ts.)
import { expect, test } from '@jest/globals'
import { freePort, runToEnd, started, usePlace } from './support/program.ts'
import { read } from './support/readme.ts'

const place = usePlace()
const [, json] = /^HEALTHCHECK .*\\\n *CMD (.*)$/m.exec(read('Dockerfile'))!
const [shell, ...args]: string[] = JSON.parse(json!)

test.each([
  [{ HOST: '0.0.0.0', http_proxy: 'http://192.0.2.1:1' }],
  [{ HOST: ' 127.0.0.2 ', OPS_HOST: ' ' }],
  [{ HOST: '0.0.0.0', OPS_HOST: '127.0.0.2 ' }],
  [{ HOST: '::' }],
])('the image becomes healthy with %j', async (variables) => {
  const env = { ...variables, OPS_PORT: ` ${await freePort()} ` }
  const service = await started(place, env)
  const printed = runToEnd(shell!, args, { env: { PATH: process.env['PATH'], ...env } })
  expect(printed).toBe('')
  await service.stop('SIGKILL')
  expect(() => runToEnd(shell!, args, { env })).toThrow('Command failed')
})
