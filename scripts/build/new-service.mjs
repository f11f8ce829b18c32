// Makes a copy of this repository another service. Renames the resource and its unique field in the text and the names of
// all files in git, and removes the released contract and the sections of CHANGELOG.md.
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import fs from 'node:fs'
import { dirname } from 'node:path'

const USAGE = `usage: node scripts/build/new-service.mjs SINGULAR PLURAL UNIQUE

Such as: category categories title. UNIQUE is the field that takes the place of the email.`

const [from, to] = [['user', 'users', 'email'], process.argv.slice(2)]
if (to.length !== 3 || !to.every((name) => /^[a-z]+$/.test(name))) {
  console.error(USAGE)
  process.exit(2)
}

/** Where the word means something else: in the operating system, HTTP, SQLite and other services. */
const SPARED =
  /runAsUser|CALLER = 'user'|`user` is the user|[U]SER \d+|Config\.[U]ser|username|user:password|user-agent|user_version|githubusercontent/

const capital = (name) => name[0].toUpperCase() + name.slice(1)
const forms = ([one, many, unique]) =>
  [many, one, unique].flatMap((name) => [name, capital(name), name.toUpperCase()])
const names = new Map(forms(from).map((name, i) => [name, forms(to)[i]]))

/** The ETag of the example in openapi.yaml. */
const etag = (unique) => {
  const example = {
    id: '665f1c2e8b3f4a0012d4c001',
    name: 'Ada Lovelace',
    [unique]: 'ada@example.com',
  }
  return hash('sha256', JSON.stringify(example), 'base64url')
}
names.set(etag(from[2]), etag(to[2]))

const words = new RegExp(`(${SPARED.source})|(\\b[Aa]n? )?(${[...names.keys()].join('|')})`, 'g')

/** `text` with the new names, each with its article. */
const renamed = (text) =>
  text.replaceAll(words, (found, spared, article, name) => {
    if (spared) return found
    const other = names.get(name)
    if (!article) return other
    return `${article[0]}${/^[aeiou]/i.test(other) ? 'n' : ''} ${other}`
  })

const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  .split('\0')
  .filter(Boolean)
for (const file of files) {
  const target = renamed(file)
  fs.mkdirSync(dirname(target), { recursive: true })
  fs.renameSync(file, target)
  const text = fs.readFileSync(target, 'utf8')
  const isLock = file.endsWith('package-lock.json') // also names packages of others
  fs.writeFileSync(target, isLock ? text.replaceAll('users-service', renamed) : renamed(text))
}

const changes = fs.readFileSync('CHANGELOG.md', 'utf8')
fs.writeFileSync('CHANGELOG.md', changes.slice(0, changes.indexOf('## ')))
fs.rmSync('scripts/build/released.json')
