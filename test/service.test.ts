// The service as a process: a start, requests, and a stop by a signal. (More: service.long.ts.)
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { postHead } from './support/service.ts'
import { started, usePlace } from './support/program.ts'
import { dial } from './chassis/support/app.ts'
import { send } from './support/service.ts'
import { SECRET } from './support/stores.ts'

const place = usePlace()

test.each([
  [{}, 'npm run create-user --'],
  [{ CREATE_USER: 'create-user' }, 'create-user'], // the image
])('without users, the log names the command that makes one: with %j, %s', async (env, command) => {
  const { output } = await started(place, env)
  expect(output.stdout).toContain(`run: ${command} --name `)
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  'the service starts, refuses other hosts, and by %s finishes requests, not idle connections; further signals change nothing',
  async (signal) => {
    const service = await started(place, { STOP_TIMEOUT: '1h', SIGNING_SECRET: SECRET })
    const port = Number(new URL(service.url()).port)
    const host = 'evil.example'
    expect((await send(port, 'GET /nothing', { headers: { host } })).status).toBe(421)
    await (await fetch(`${service.url()}/nothing`)).text() // leaves an idle connection
    const { socket, text } = dial(port)
    socket.write(postHead('Content-Length: 15\r\nExpect: 100-continue\r\n'))
    while (!text().includes('100 Continue')) await sleep(5)
    service.process.kill(signal)
    while (!service.output.stdout.includes('finishing')) await sleep(5)
    for (const again of ['SIGTERM', 'SIGINT'] as const) {
      service.process.kill(again)
      await sleep(50)
    }
    socket.write('{}'.padEnd(15))
    expect(await service.ended).toBe(0)
    expect(text()).toContain('HTTP/1.1 201')
    const { stdout } = service.output
    expect(stdout.match(/finishing|cut off|stopped/g)).toEqual(['finishing', 'stopped'])
  },
)
