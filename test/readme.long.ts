// Runs the first commands of README.md exactly as they are written, `npm run dev`, and the packed client in an empty project.
import { expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UNSET } from './support/program.ts'
import { clientExamples, firstCalls, newFolder, root, useReadme } from './support/readme.ts'

const readme = useReadme()

test('npm run dev follows the page, TypeScript and the contract, keeps what runs when they do not compile, and leaves no process', async () => {
  const folder = newFolder()
  const others = ['node_modules', 'dist', '.git', 'data', '.env']
  const filter = (path: string) => !others.includes(basename(path))
  fs.cpSync(root, folder, { recursive: true, filter })
  fs.symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const env = { ...process.env, ...UNSET, PORT: '0', OPS_PORT: '0' }
  const dev = spawn('npm', ['run', 'dev'], { cwd: folder, env, detached: true })
  let printed = ''
  for (const output of [dev.stdout, dev.stderr])
    output.on('data', (text: Buffer) => (printed += text))
  const prints = async (text: string) => {
    while (!printed.includes(text)) await sleep(50)
  }
  const change = async (name: string, old: string, changed: string, output: string) => {
    printed = ''
    const file = join(folder, name)
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(old, changed))
    await prints(output)
  }
  try {
    await prints('try it at')
    await change('src/chassis/docs/page.css', '#fff', '#eee', 'try it at')
    await change('src/chassis/run.ts', 'try it at', 'see', 'see http')
    const [, url] = /see (http.*?)\/docs/.exec(printed)!
    await change('openapi.yaml', ': login', ': logIn', "Property 'logIn' is missing")
    expect((await fetch(`${url}/docs`)).status).toBe(200) // of the service that compiled
    await change('openapi.yaml', ': logIn', ': login', 'see http')
    dev.kill('SIGTERM')
    await once(dev, 'close', { signal: AbortSignal.timeout(60_000) })
    expect(spawnSync('kill', ['-0', '--', `-${dev.pid}`]).status).toBe(1) // its group is empty
  } finally {
    spawnSync('kill', ['-9', '--', `-${dev.pid}`])
  }
}, 300_000)

/** The lowest that the README of the client names. */
const LOWEST = 'npx --yes --package=typescript@4.9.5 tsc --skipLibCheck'
const TODAY = join(root, 'node_modules/.bin/tsc')

test('in an empty project, the package of the client runs the example of its README, which compiles strictly, and can be bundled for browsers', () => {
  const project = newFolder()
  const tarball = readme.run('npm', ['pack', './dist/client', '--pack-destination', project]).trim()
  fs.writeFileSync(join(project, 'package.json'), '{}')
  readme.bash(`npm install --no-audit --no-fund --prefer-offline ./${tarball}`, project)
  for (const { code } of firstCalls) readme.bash(readme.here(code))
  const [example] = clientExamples
  fs.writeFileSync(join(project, 'readme.mts'), readme.here(example!.code))
  for (const tsc of [LOWEST, TODAY])
    readme.bash(`${tsc} --strict --target es2022 --module nodenext *.mts >&2`, project)
  const printed = readme.run(process.execPath, ['readme.mjs'], project)
  expect(printed).toBe(
    'Ada <ada@example.com>\nGrace <grace@example.com>\nAlan Turing <alan@example.com>\n',
  )
  const bundle = ['readme.mjs', '--bundle', '--platform=browser', '--format=esm']
  expect(readme.run(join(root, 'node_modules/.bin/esbuild'), bundle, project)).toContain('fetch')
}, 300_000)
