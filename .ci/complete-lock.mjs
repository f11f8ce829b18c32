// Run after `npm install` on a machine whose registry does not serve the binaries of other platforms:
// npm then leaves them out of package-lock.json, and `npm ci` refuses such a lock file everywhere.
// Adds the optional packages that are missing, by the platform that their name tells.
import { readFileSync, writeFileSync } from 'node:fs'

const SYSTEMS = ['darwin', 'linux', 'win32', 'windows', 'freebsd', 'android', 'openharmony']
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))

for (const [key, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  if (key === '') continue
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const [, system, cpu] = new RegExp(`(${SYSTEMS.join('|')})-(\\w+)`).exec(name) ?? []
    if (!system || lock.packages[`node_modules/${name}`]) continue
    const libc = system === 'linux' && /musl|gnu/.exec(name)?.[0].replace('gnu', 'glibc')
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu: [cpu],
      ...(dev && { dev }),
      ...(libc && { libc: [libc] }),
      optional: true,
      os: [system === 'windows' ? 'win32' : system],
    }
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1))
lock.packages = Object.fromEntries(sorted)
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
