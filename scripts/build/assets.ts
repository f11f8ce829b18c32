// Part of the build: makes what is not compiled. dist/docs is the page at /docs; dist/openapi.json is
// openapi.yaml, which takes a tenth of a second to parse; dist/contract.json is what the service reads;
// dist/client is the package of the client.
import fs from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { operationsOf } from './resolve-contract.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = join(root, 'src/docs')
const explorer = join(root, 'node_modules/openapi-explorer')

const contract = parse(fs.readFileSync(join(root, 'openapi.yaml'), 'utf8')) as { info: object }
write('openapi.json', Buffer.from(JSON.stringify(contract)))
const { info } = contract
write('contract.json', Buffer.from(JSON.stringify({ info, operations: operationsOf(contract) })))

fs.mkdirSync(join(root, 'dist/docs'), { recursive: true })
for (const file of fs.readdirSync(page)) write(`docs/${file}`, fs.readFileSync(join(page, file)))
write('docs/LICENSE', fs.readFileSync(join(explorer, 'LICENSE')))
const bundle = join(explorer, 'dist/browser/openapi-explorer.min.js')
write('docs/openapi-explorer.js', fs.readFileSync(bundle))

const { version, license, dependencies } = JSON.parse(
  fs.readFileSync(join(root, 'package.json'), 'utf8'),
)
const client = {
  name: 'users-service-client',
  version,
  license,
  description: 'The typed client of the Users Service',
  type: 'module',
  main: './client/client.js', // for TypeScript with moduleResolution node10, which ignores `exports`
  types: './client/client.d.ts',
  exports: { types: './client/client.d.ts', default: './client/client.js' },
  dependencies: { 'openapi-fetch': dependencies['openapi-fetch'] },
}
for (const file of ['client/client.js', 'client/client.d.ts', 'contract/openapi.d.ts']) {
  fs.cpSync(join(root, 'dist/src', file), join(root, 'dist/client', file))
}
fs.copyFileSync(join(root, 'src/client/README.md'), join(root, 'dist/client/README.md'))
fs.writeFileSync(join(root, 'dist/client/package.json'), JSON.stringify(client, undefined, 2))

/** Writes a file to dist. Skips one that has not changed: a service may be serving it. */
function write(file: string, content: Buffer): void {
  const path = join(root, 'dist', file)
  if (!fs.existsSync(path) || !fs.readFileSync(path).equals(content))
    fs.writeFileSync(path, content)
}
