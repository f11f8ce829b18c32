// The service in README.md of the chassis, made of the package in a new folder.
import { expect } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, read, root } from '../../support/readme.ts'

const page = read('src/chassis/README.md')
const named = [...page.matchAll(/^`([\w.]+)`:\n\n```\w+\n(.*?)^```$/gms)]
/** The files on the page, by their names. */
export const files = new Map(named.map(([, name, code]) => [name!, code!]))
/** The scripts on the page, in their order: the first makes the service, the last tests it. */
export const scripts = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code!)
const RUN = /^NOTES_KEYS=.* node main\.js\n/m
export const [, version] = /^## \[(.*?)\]/m.exec(read('src/chassis/CHANGELOG.md'))!

export const bash = (script: string, cwd: string) => {
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', script], { cwd, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** Does all that the page says, but for running the service. @returns the folder */
export function makeService(): string {
  const folder = newFolder()
  const pack = `npm run --silent pack:chassis -- --pack-destination ${folder}`
  expect(bash(pack, root)).toMatchObject({ status: 0 })
  expect(readdirSync(folder)).toEqual([`openapi-chassis-${version}.tgz`])
  for (const [file, code] of files) writeFileSync(join(folder, file), code)
  const script = scripts[0]!
  expect(script).toMatch(RUN)
  expect(bash(script.replace(RUN, ''), folder)).toMatchObject({ status: 0 })
  return folder
}
