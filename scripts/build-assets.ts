// Part of the build: makes the files that the service reads. dist/docs is the page at /docs;
// dist/openapi.json is openapi.yaml, which takes a tenth of a second to parse.
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

/** Skips a file that has not changed: a service may be serving it. */
function copy(folder: string, file: string): void {
  const [from, to] = [join(folder, file), join(root, 'dist/docs', file)]
  if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) return
  copyFileSync(from, to)
}
