// Part of the build: lays out in dist/docs what the page at /docs is made of.
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

cpSync(join(root, 'src/docs'), join(root, 'dist/docs'), { recursive: true })
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'LICENSE']) {
  cpSync(join(swaggerUi, file), join(root, 'dist/docs', file))
}
