// A guide of CONTRIBUTING.md, and a copy of the repository to follow it in.
import { expect } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd } from './program.ts'
import { newFolder, read, root } from './readme.ts'

/** A change: a file, what to find in it, and what to put in its place. */
export type Change = [string, string | RegExp, string]

/** @param title the guide's */
export function followGuide(title: string) {
  const page = read('CONTRIBUTING.md')
  const steps = page
    .split(`## ${title}\n`)[1]!
    .split('\n## ')[0]!
    .split(/^\d\. /m)
  const folder = newFolder()
  const copy = `git ls-files -co --exclude-standard | tar c -T - | tar x -C ${folder}`
  runToEnd('bash', ['-ec', `${copy}; ln -s $PWD/node_modules ${folder}`], { cwd: root })

  const run = (command: string): string =>
    spawnSync('bash', ['-c', `${command} 2>&1`], { cwd: folder, encoding: 'utf8', maxBuffer: 1e9 })
      .stdout
  const npmTest = (tests: string) => run(`npm test -- --maxWorkers=1 ${tests}`)
  return {
    run,
    /** The files that a step names. */
    filesIn: (step: number) => filesFound(/`([\w./-]+\.ts)`/g, steps[step]!),
    // Types of packages behind a link cannot be named in a declaration, which this does not need.
    compile: () => run('npx tsc --project test --declaration false'),
    npmTest,
    /** The test files that fail. */
    failing: (tests: string) => filesFound(/^FAIL (\S+)/gm, npmTest(tests)),
    change(changes: Change[]): void {
      for (const [file, found, replacement] of changes) {
        const text = readFileSync(join(folder, file), 'utf8')
        expect(text).toMatch(found)
        writeFileSync(join(folder, file), text.replace(found, replacement))
      }
    },
  }
}

/** What the compiler or a test says: the files in which something is wrong. */
export const filesWithErrors = (output: string) => filesFound(/^(\S+)\(.*error/gm, output)

const filesFound = (pattern: RegExp, text: string) =>
  [...new Set([...text.matchAll(pattern)].map(([, file]) => file!))].toSorted()
