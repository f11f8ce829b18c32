// nginx in front of a service, with the location of k8s/README.md, which keeps the base path.
import { afterAll, beforeAll, describe } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './program.ts'
import { newFolder, read } from './readme.ts'

export const hasNginx = spawnSync('nginx', ['-v']).status === 0
export const describeNginx: typeof describe.skip = hasNginx ? describe : describe.skip

export const LOCATION = /^```nginx\n(.*?)^```$/ms.exec(read('k8s/README.md'))![1]!

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** Starts nginx with `location` in front of the service on `port`, for the tests of a suite. @returns its address */
export function useNginx(location: string, port: () => number, more = ''): () => string {
  let url: string
  let stop: () => Promise<unknown>
  beforeAll(async () => {
    const folder = newFolder()
    const listening = await freePort()
    url = `http://127.0.0.1:${listening}`
    const paths = TEMPORARY.map((name) => `${name}_temp_path ${name};`).join(' ')
    const here = location.replace('127.0.0.1:3000', `127.0.0.1:${port()}`)
    const server = `server { listen 127.0.0.1:${listening}; ${more} ${here} }`
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; master_process off; pid pid; error_log stderr; events {}
      http { access_log off; ${paths} ${server} }`,
    )
    const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'])
    const ended = once(nginx, 'exit')
    stop = () => (nginx.kill(), ended)
    while (!(await fetch(url).catch(() => undefined))) {
      if (nginx.exitCode !== null) throw new Error(`nginx ended: ${nginx.stderr.read()}`)
      await sleep(10)
    }
  })
  afterAll(() => stop())
  return () => url
}
