// The fenced blocks of README.md and of that of the client, and a service to run them against.
import { afterAll, beforeAll, expect } from '@jest/globals'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { load } from 'js-yaml'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runToEnd, serve, UNSET, usePlace } from './program.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** The text of a file of the repository. */
export const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** A file of the repository, in YAML. */
export const readYaml = (file: string): any => load(read(file)) // eslint-disable-line -- as the test knows it

export const { version, scripts }: { version: string; scripts: Record<string, string> } =
  JSON.parse(read('package.json'))

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

/** A new folder, which is removed after the tests of the file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
  folders.push(folder)
  return folder
}

/** A copy of the built programs in a new folder, without the contract. */
export function copyBuilt(): string {
  const folder = newFolder()
  for (const path of ['dist', 'package.json'])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** A fenced block and its output, which is the next block if that is `text`. */
interface Block {
  title: string
  language: string
  code: string
  output: string
}

const text = read('README.md') + read('src/client/README.md')
const fences = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]

export const blocks = fences.map(([, language = '', code = ''], i): Block => {
  const [, next = '', output = ''] = fences[i + 1] ?? []
  return { title: code.split('\n')[0]!, language, code, output: next === 'text' ? output : '' }
})

/** The blocks that create the first user and make the first calls. */
export const firstCalls = blocks.filter(({ code }) => /\bcurl\b|npm run .*create-user/.test(code))

/** The code in the README of the client. */
export const clientExamples = blocks.filter(({ language }) => language === 'ts')

/** Starts a service of its own on SQLite, to which `run` and `here` refer. */
export function useReadme() {
  const place = usePlace()
  let url: string
  beforeAll(async () => {
    url = await serve(place).listening()
  })

  /** Runs a program to its end. @returns what it printed */
  function run(program: string, args: string[], cwd = root): string {
    const others = { npm_config_local_prefix: undefined, ...UNSET }
    const env = { ...process.env, ...others, ...place.environment }
    return runToEnd(program, args, { cwd, env })
  }

  return {
    run,
    expectOutput,
    /** Runs a script in bash. @returns what it printed */
    bash: (script: string, cwd?: string) => run('bash', ['-euo', 'pipefail', '-c', script], cwd),
    /** The code with the address of this service. */
    here: (code: string) => code.replaceAll('http://localhost:3000', url),
  }
}

/** Expects that `actual` is the output that README.md shows, with other ids and tokens. */
const expectOutput = (actual: string, { output }: Block) =>
  expect(comparable(actual)).toBe(comparable(output))

/** The text with its ids numbered in order, and without tokens, which differ each time. */
const comparable = (text: string) =>
  withNumberedIds(text)
    .replaceAll(/\beyJ[\w.-]+/g, 'token')
    .trim()

/** The text with a number for each id, in the order in which they appear. */
export function withNumberedIds(text: string): string {
  const ids = [...new Set(text.match(/\b[0-9a-f]{24}\b/g))]
  return ids.reduce((result, id, i) => result.replaceAll(id, `id ${i}`), text)
}
