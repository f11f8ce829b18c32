// The mock and the proxy of Prism. The client of this service reads all users of the mock, which must have an end.
// The program of hey-api passes the proxy, which fails on what the contract does not have.
import { deepStrictEqual as expectEqual } from 'node:assert'
import { execFileSync, spawn } from 'node:child_process'

const { REPOSITORY, CONTRACT, URL: service } = process.env
const { createUsersClient } = await import(`${REPOSITORY}dist/src/client/client.js`)

await withPrism(['mock', CONTRACT], async (baseUrl) => {
  const names = []
  const users = createUsersClient({ baseUrl, email: 'ada@example.com' })
  for await (const { name } of users.all()) names.push(name)
  expectEqual(names, ['Ada Lovelace', 'Grace Hopper'])
})

await withPrism(['proxy', '--errors', CONTRACT, service], (URL) => {
  const program = `${REPOSITORY}test/generators/hey-api/run`
  execFileSync('sh', ['-eu', program], { env: { ...process.env, URL }, stdio: 'inherit' })
})

/** Calls `use` with the address of a Prism. */
async function withPrism(args, use) {
  const program = `${REPOSITORY}test/generators/node_modules/.bin/prism`
  const prism = spawn(program, [...args, '--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const url = await new Promise((resolve, reject) => {
      prism.on('exit', reject).stdout.on('data', (text) => {
        const [, found] = /listening on (\S+)/.exec(text) ?? []
        if (found) resolve(found)
      })
    })
    await use(url)
  } finally {
    prism.kill()
  }
}
