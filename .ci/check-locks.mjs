// Part of npm run check: every package of every package-lock.json has the checksum that npm ci compares.
import { readFileSync } from 'node:fs'

for (const folder of ['.', 'scripts/bench']) {
  const { packages } = JSON.parse(readFileSync(`${folder}/package-lock.json`, 'utf8'))
  for (const [name, { integrity }] of Object.entries(packages)) {
    if (name === '' || integrity) continue
    console.error(`${folder}/package-lock.json: ${name} has no integrity`)
    process.exitCode = 1
  }
}
