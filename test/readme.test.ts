// Runs the commands of README.md, and checks what the documents refer to. Uses the programs that are already
// built; readme.long.ts runs the commands exactly as they are written, and the TypeScript.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { blocks, firstCalls, newFolder, read, root, scripts, useReadme } from './support/readme.ts'
import { NAMES, runToEnd, UNSET } from './support/program.ts'
import { mongodbPlace, sqlitePlace, usersAt } from './support/stores.ts'

/** The script with each `npm run` replaced by the last command of that npm script, without the build. */
const withoutBuild = (script: string) =>
  script.replaceAll(/npm run (?:--silent )?([\w-]+) --/g, (_, name: string) =>
    scripts[name]!.split(' && ').at(-1)!,
  )

const { expectOutput, ...readme } = useReadme()

describe('README.md', () => {
  test.each(firstCalls)('prints what it shows: $title', (block) => {
    expectOutput(readme.bash(readme.here(withoutBuild(block.code))), block)
  })

  const testMongodb = process.env['MONGODB_URI'] ? test : test.skip

  testMongodb('export and import copy all users to MongoDB', async () => {
    const target = mongodbPlace()
    const folder = newFolder()
    const { code } = blocks.find((block) => block.code.includes('npm run export-users'))!
    const script = withoutBuild(code)
      .replaceAll('users.ndjson', join(folder, 'users.ndjson'))
      .replace('mongodb://localhost:27017/users', () => target.MONGODB_URI!)
    readme.bash(withoutBuild('npm run create-user -- --name Ada --email moving@example.com'))
    readme.bash(script)
    const moved = { name: 'Ada', email: 'moving@example.com' }
    expect(await usersAt(target)).toContainEqual(expect.objectContaining(moved))
    await target.remove()
  })

  test('imports a file with other columns', () => {
    const folder = newFolder()
    const people = 'First Name,Last Name,E-mail Address\nAda,Lovelace,ada@csv\n'
    fs.writeFileSync(join(folder, 'people.csv'), people)
    const { code } = blocks.find((block) => block.code.includes('{First Name}'))!
    const inFolder = (file: string) => join(folder, file)
    readme.bash(withoutBuild(code).replaceAll(/people.csv|problems.txt/g, inFolder))
    const all = readme.bash(withoutBuild('npm run export-users -- --format csv -'))
    expect(all).toContain(',Ada Lovelace,ada@csv')
  })

  test('makes a .env for all instances, which only its owner can read', () => {
    const folder = newFolder()
    const { code } = blocks.find((block) => block.code.includes('>>.env'))!
    readme.bash(code.replace(' && npm start', ''), folder)
    const file = join(folder, '.env')
    const lines = /^MONGODB_URI=mongodb:.+\nSIGNING_SECRET=[0-9a-f]{64}\n$/
    expect(fs.readFileSync(file, 'utf8')).toMatch(lines)
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  })

  test('backs up and restores the database', () => {
    const folder = newFolder()
    fs.symlinkSync(join(root, 'dist'), join(folder, 'dist'))
    const inFolder = (script: string) => readme.bash(`DATA_DIR=; ${withoutBuild(script)}`, folder)
    const [, backup, restore] = /`(npm run backup.*?)`[^]*`(npm run restore.*?)`/.exec(
      read('README.md'),
    )!
    inFolder('npm run create-user -- --email ada@x')
    inFolder(backup!)
    inFolder('npm run create-user -- --email grace@x')
    inFolder(restore!)
    expect(inFolder('npm run export-users -- -')).toMatch(/^.+"ada@x".+\n$/)
  })

  test.each([
    ['README.md', /^(?:- )?`([A-Z_]+)`[: ]/gm],
    ['.env.example', /^#?([A-Z_]+)=/gm],
  ])('%s lists every variable of the configuration', (document, pattern) => {
    const names = [...read(document).matchAll(pattern)].map(([, name]) => name)
    expect(names.sort()).toEqual(NAMES.toSorted())
  })

  test('in tests, users have fixed ids, without standard input', async () => {
    const place = sqlitePlace()
    const { code } = blocks.find((block) => block.code.startsWith('docker exec users-test sh'))!
    const create = code.replace('docker exec users-test', '')
    const env = { ...process.env, ...UNSET, ...place.environment }
    const stdio = ['ignore', 'pipe', 'pipe']
    runToEnd('bash', ['-ec', create.replace('import-users', IMPORT)], { env, stdio })
    const user = { id: '665f1c2e8b3f4a0012d4c001', name: 'Ada', email: 'ada@x' }
    expect(await usersAt(place)).toMatchObject([user])
    await place.remove()
  })
})

const IMPORT = `node ${join(root, 'dist/scripts/users/import-users.js')}`

/** The pages of the repository. By `find`, which goes on when another test removes a folder meanwhile. */
const FIND = '. ( -name node_modules -o -name .git -o -name dist ) -prune -o -name *.md -print'
const { stdout: found } = spawnSync('find', FIND.split(' '), { cwd: root, encoding: 'utf8' })
const DOCUMENTS = found.trim().replaceAll('./', '').split('\n')

test.each(DOCUMENTS)('%s links to and names only what exists', (document) => {
  const text = read(document)
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
  for (const [link, path = '', heading] of links) {
    const file = path ? join(dirname(document), path) : document
    expect([link, fs.existsSync(join(root, file))]).toEqual([link, true])
    if (heading) expect(headingsOf(file)).toContain(heading)
  }
  const found = text.matchAll(/`((?:src|test|scripts|k8s)\/[\w./-]+)`/g)
  const paths = [...found].map(([, path]) => path!)
  expect(paths.filter((path) => !fs.existsSync(join(root, path)))).toEqual([])
  const names = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name!)
  expect(names.filter((name) => !(name in scripts))).toEqual([])
})

/** The anchors of the headings in a Markdown file, as GitHub makes them. */
function headingsOf(file: string): string[] {
  const lines = read(file).toLowerCase()
  const headings = lines.matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, text]) => text!.replaceAll(/[^\w\s-]/g, '').replaceAll(' ', '-'))
}
