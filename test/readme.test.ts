// Runs the commands and the TypeScript of README.md, and checks what the documents refer to. Uses the
// programs that are already built; readme.long.ts runs the commands exactly as they are written.
import { describe, expect, test } from '@jest/globals'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { VARIABLES } from '../src/config.ts'
import { openStore } from '../src/store/open.ts'
import {
  blocks,
  clientExample,
  expectOutput,
  firstCalls,
  root,
  useReadme,
} from './support/readme.ts'
import { mongodbPlace } from './support/stores.ts'

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

/** The script with each `npm run` replaced by the last command of that npm script, without the build. */
const withoutBuild = (script: string) =>
  script.replaceAll(/npm run (?:--silent )?([\w-]+) --/g, (_, name: string) =>
    scripts[name]!.split(' && ').at(-1)!,
  )

const readme = useReadme()

describe('README.md', () => {
  test.each(firstCalls)('prints what it shows: $title', (block) => {
    expectOutput(readme.bash(readme.here(withoutBuild(block.code))), block)
  })

  test('the example of the client compiles and prints what it shows', () => {
    const folder = mkdtempSync(join(root, 'dist/readme-'))
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(join(root, 'dist/client'), join(folder, 'node_modules/users-service-client'))
    writeFileSync(join(folder, 'example.mts'), readme.here(clientExample.code))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const options = ['--strict', '--skipLibCheck', '--types', 'node', '--target', 'es2022']
    const file = join(folder, 'example.mts')
    readme.run(process.execPath, [tsc, ...options, '--module', 'nodenext', file])
    expectOutput(readme.run(process.execPath, [join(folder, 'example.mjs')]), clientExample)
    rmSync(folder, { recursive: true })
  })

  const testMongodb = process.env['MONGODB_URI'] ? test : test.skip

  testMongodb('export and import copy all users to MongoDB', async () => {
    const target = mongodbPlace()
    const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
    const { code } = blocks.find((block) => block.code.includes('npm run export-users'))!
    const script = withoutBuild(code)
      .replaceAll('users.ndjson', join(folder, 'users.ndjson'))
      .replace('mongodb://localhost:27017/users', () => target.mongodbUri!)
    readme.bash(withoutBuild('npm run create-user -- --name Ada --email moving@example.com'))
    readme.bash(script)
    const store = await openStore(target)
    expect(await store.findByEmail('moving@example.com')).toMatchObject({ name: 'Ada' })
    await store.close()
    await target.remove()
    rmSync(folder, { recursive: true })
  })

  test('lists every variable of the configuration, as .env.example does', () => {
    const names = Object.keys(VARIABLES).sort()
    const rows = [...textOf('README.md').matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name]) => name)
    expect(rows.sort()).toEqual(names)
    const lines = [...textOf('.env.example').matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(lines.sort()).toEqual(names)
  })

  test('can be read in one sitting: it has at most 150 lines', () => {
    expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  })
})

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'k8s/README.md',
  'src/client/README.md',
]
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

describe.each(DOCUMENTS)('%s', (document) => {
  const text = textOf(document)

  test('links only to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
    for (const [link, path = '', heading] of links) {
      const file = path ? join(dirname(document), path) : document
      expect([link, existsSync(join(root, file))]).toEqual([link, true])
      if (heading) expect(headingsOf(file)).toContain(heading)
    }
  })

  test('names only paths that exist', () => {
    const paths = [...text.matchAll(/`((?:src|test|scripts|k8s)\/[\w./-]+)`/g)].map(
      ([, path]) => path!,
    )
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  test('names only npm scripts that exist', () => {
    const names = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name!)
    expect(names.filter((name) => !(name in scripts))).toEqual([])
  })
})

/** The anchors of the headings in a Markdown file, as GitHub makes them. */
const headingsOf = (file: string) =>
  [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
