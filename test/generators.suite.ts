// What other teams make from openapi.yaml works with the service: clients by generators. Each folder of test/generators has a program, and `run`, which makes, compiles and runs it.
// Not part of `npm test`: npm run test:generators needs Go, Java 17, Maven and Python 3.10.
import { test } from '@jest/globals'
import { execFile, spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { HttpError } from '../src/chassis/index.ts'
import type { User, UserStore } from '../src/store/user-store.ts'
import { newFolder, root } from './support/readme.ts'
import { startService } from './support/service.ts'
import { tokens } from './chassis/support/requests.ts'
import { sqlitePlace, useOwnStores } from './support/stores.ts'

// What the program of a client does, and checks. The email of Ada has a `+`.
//   POST /users 201: Ada
//   POST /users 400: another Ada
//   POST /users 201: Grace
//   GET /users/{id} 200
//   GET /users/{id} 304: with If-None-Match
//   PUT /users/{id} 204: with If-Match
//   PUT /users/{id} 412: with If-Match and the ETag of before
//   GET /users/{id} 200
//   GET /users 200
//   GET /users 200: the first page
//   GET /users 200: the second page, by the Link of the first
//   POST /login 200
//   GET /users 200: with the new token, and the email of Ada as a parameter
//   POST /login 401
//   GET /users 401
//   DELETE /users/{id} 204
//   GET /users/{id} 404

/** The tools that are needed, each with a command that fails where it is missing. */
const TOOLS = {
  Go: 'go version',
  'Java and Maven': 'javac --version && mvn --version',
  'Python with venv': 'python3 -m venv --help',
}

/** The programs, their folders and their tools. */
const CLIENTS = [
  ['Go by oapi-codegen', 'go', 'Go'],
  ['Java by openapi-generator', 'java', 'Java and Maven'],
  ['Python by openapi-python-client', 'python', 'Python with venv'],
] as const

const folders = newFolder()

const { open } = useOwnStores(sqlitePlace)

for (const [name, folder, tools] of CLIENTS) {
  const isMissing = spawnSync('sh', ['-c', TOOLS[tools]]).status !== 0
  if (isMissing) process.stderr.write(`\n${name} WAS NOT TESTED: it needs ${tools}\n`)
  const testIf = isMissing ? test.skip : test
  testIf(name, () => expectToWork(folder), 600_000)
}

/**
 * A store for a service of a later version: a user has a field, and the 404 of a user a code, that the contract of
 * today does not have.
 */
const ofLaterVersion = (store: UserStore): UserStore => {
  const later = (user: User) => ({ ...user, aLaterField: { ofAnyType: [1] } })
  return {
    ...store,
    create: async (fields) => later(await store.create(fields)),
    async find(id) {
      const user = await store.find(id)
      if (user) return later(user)
      throw new HttpError(404, 'a_later_code', 'no user has this id')
    },
    async findByEmail(email) {
      const user = await store.findByEmail(email)
      return user && later(user)
    },
    async list(query) {
      const page = await store.list(query)
      return { ...page, users: page.users.map(later) }
    },
    rename: (id, name, isMet) => store.rename(id, name, isMet && ((user) => isMet(later(user)))),
  }
}

async function expectToWork(folder: string): Promise<void> {
  const service = await startService(ofLaterVersion(await open()))
  const env = { URL: `http://127.0.0.1:${service.port}`, TOKEN: tokens.issue('x') }
  try {
    await runClient(folder, env)
  } finally {
    await service.close()
  }
}

/** Runs `run` in a copy of the folder. Rejects with its output if it fails. */
async function runClient(folder: string, environment: Record<string, string>): Promise<void> {
  const cwd = join(folders, folder)
  cpSync(join(root, 'test/generators', folder), cwd, { recursive: true })
  const own = { REPOSITORY: root, CONTRACT: `${root}openapi.yaml` }
  const options = { cwd, env: { ...process.env, ...own, ...environment }, timeout: 590_000 }
  await promisify(execFile)('sh', ['-eu', 'run'], options).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`)
  })
}
