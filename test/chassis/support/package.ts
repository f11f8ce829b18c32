// The service in README.md of the chassis, made of the package in a new folder.
import { expect } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, read, root } from '../../support/readme.ts'

const page = read('src/chassis/README.md')
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
export const codeOf = (language: string) => blocks.find(([, name]) => name === language)![2]!
const FILES = {
  'openapi.yaml': 'yaml',
  'main.ts': 'ts',
  'tsconfig.json': 'json',
  Dockerfile: 'dockerfile',
}
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
  for (const [file, language] of Object.entries(FILES))
    writeFileSync(join(folder, file), codeOf(language))
  const script = codeOf('sh')
  expect(script).toMatch(RUN)
  expect(bash(script.replace(RUN, ''), folder)).toMatchObject({ status: 0 })
  return folder
}
