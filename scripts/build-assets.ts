// Part of the build: makes what is not compiled. dist/docs is the page at /docs; dist/openapi.json is
// openapi.yaml, which takes a tenth of a second to parse; dist/client is the package of the client.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = join(root, 'src/docs')
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

const contract: unknown = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'))
writeFileSync(join(root, 'dist/openapi.json'), JSON.stringify(contract))

mkdirSync(join(root, 'dist/docs'), { recursive: true })
for (const file of readdirSync(page)) copy(page, file)
for (const file of [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
  'swagger-ui-bundle.js.LICENSE.txt',
]) {
  copy(swaggerUi, file)
}

const { version, license, repository, dependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const client = {
  name: 'users-service-client',
  version,
  license,
  repository,
  description: 'The typed client of the Users Service',
  type: 'module',
  main: './client/client.js',
  types: './client/client.d.ts',
  dependencies: { 'openapi-fetch': dependencies['openapi-fetch'] },
}
for (const folder of ['client', 'contract']) {
  mkdirSync(join(root, 'dist/client', folder), { recursive: true })
}
for (const file of ['client/client.js', 'client/client.d.ts', 'contract/openapi.d.ts']) {
  copyFileSync(join(root, 'dist/src', file), join(root, 'dist/client', file))
}
writeFileSync(join(root, 'dist/client/package.json'), JSON.stringify(client, undefined, 2))

/** Skips a file that has not changed: a service may be serving it. */
function copy(folder: string, file: string): void {
  const [from, to] = [join(folder, file), join(root, 'dist/docs', file)]
  if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) return
  copyFileSync(from, to)
}
