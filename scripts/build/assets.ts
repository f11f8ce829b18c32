// Part of the build: makes what is not compiled. dist/docs is the page at /docs; dist/client is the package of the client,
// and dist/chassis that of the chassis.
import fs from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = join(root, 'src/chassis/docs')
const explorer = join(root, 'node_modules/openapi-explorer')

fs.mkdirSync(join(root, 'dist/docs'), { recursive: true })
for (const file of fs.readdirSync(page))
  if (!file.endsWith('.ts')) write(`docs/${file}`, fs.readFileSync(join(page, file)))
write('docs/LICENSE', fs.readFileSync(join(explorer, 'LICENSE')))
const bundle = join(explorer, 'dist/browser/openapi-explorer.min.js')
write('docs/openapi-explorer.js', fs.readFileSync(bundle))

const { version, license, engines, dependencies, devDependencies } = JSON.parse(
  fs.readFileSync(join(root, 'package.json'), 'utf8'),
)

for (const folder of ['client', 'chassis'])
  fs.rmSync(join(root, 'dist', folder), { recursive: true, force: true })

copy('dist/src/client', 'dist/client/client')
copy('dist/src/openapi.d.ts', 'dist/client/openapi.d.ts')
writePackage('client', {
  name: 'users-service-client',
  description: 'The typed client of the Users Service',
  main: './client/client.js', // for TypeScript with moduleResolution node10, which ignores `exports`
  types: './client/client.d.ts',
  exports: { types: './client/client.d.ts', default: './client/client.js' },
  dependencies: { 'openapi-fetch': dependencies['openapi-fetch'] },
})

copy('dist/src/chassis', 'dist/chassis')
copy('dist/docs', 'dist/chassis/docs')
for (const file of ['redocly.yaml', 'CHANGELOG.md'])
  copy(`src/chassis/${file}`, `dist/chassis/${file}`)
const changelog = fs.readFileSync(join(root, 'src/chassis/CHANGELOG.md'), 'utf8')
writePackage('chassis', {
  name: 'openapi-chassis',
  version: /^## \[(.*)\]/m.exec(changelog)![1], // its own: it changes when a service must, not with the users API
  description: 'What a contract-first microservice on Koa needs beside its operations',
  engines,
  imports: { '#docs/*': './docs/*' },
  exports: { '.': './index.js', './programs': './programs.js', './redocly.yaml': './redocly.yaml' },
  dependencies: dependenciesOf('dist/src/chassis'),
})

/** Writes the package.json and the README of a package that is made in dist. */
function writePackage(folder: string, fields: object): void {
  copy(`src/${folder}/README.md`, `dist/${folder}/README.md`)
  copy('LICENSE', `dist/${folder}/LICENSE`)
  const content = JSON.stringify({ version, license, type: 'module', ...fields }, undefined, 2)
  fs.writeFileSync(join(root, 'dist', folder, 'package.json'), content)
}

function copy(from: string, to: string): void {
  fs.cpSync(join(root, from), join(root, to), { recursive: true })
}

/** The packages that compiled code imports, and those of types that its types need, with their versions. */
function dependenciesOf(folder: string): Record<string, string> {
  const files = fs.readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
  const names = files.flatMap((file) => {
    if (!/\.(js|d\.ts)$/.test(file)) return []
    const text = fs.readFileSync(join(root, folder, file), 'utf8')
    const found = [...text.matchAll(/(?:from|import\() ?'((?:@[\w-]+\/)?[\w-]+)/g)]
    return found.map(([, name]) => (file.endsWith('.d.ts') ? `@types/${name}` : name!))
  })
  const versions: Record<string, string> = { ...devDependencies, ...dependencies }
  const used = [...new Set([...names, '@types/node'])].filter((name) => versions[name]).sort()
  return Object.fromEntries(used.map((name) => [name, versions[name]!]))
}

/** Writes a file to dist. Skips one that has not changed: a service may be serving it. */
function write(file: string, content: Buffer): void {
  const path = join(root, 'dist', file)
  if (!fs.existsSync(path) || !fs.readFileSync(path).equals(content))
    fs.writeFileSync(path, content)
}
