// The alerts: promtool runs their tests, which are YAML. (Their sections of the runbook: k8s.long.ts.)
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { newFolder, read, readYaml, root } from './support/readme.ts'

const testPromtool = spawnSync('promtool', ['--version']).status === 0 ? test : test.skip
const folder = newFolder()

function promtool(command: string, rules: object, ...files: string[]): string {
  writeFileSync(join(folder, 'rules.yml'), dump(rules))
  const args = [command, 'rules', ...files]
  const { stdout, stderr } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })
  return stdout + stderr
}

testPromtool('the queries of the runbook are valid', () => {
  const queries = [...read('k8s/runbook.md').matchAll(/^```promql\n(.*?)^```$/gms)]
  const rules = queries.map(([, expr], i) => ({ record: `query_${i}`, expr }))
  const said = promtool('check', { groups: [{ name: 'runbook', rules }] }, 'rules.yml')
  expect(said).toMatch(/SUCCESS: \d/)
})

testPromtool.each(['k8s.alerts.yaml', 'k8s.alerts.days.yaml'])(
  'each alert fires as in %s',
  (file) => {
    const { spec } = readYaml('k8s/components/monitoring/prometheusrule.yaml')
    copyFileSync(`${root}test/${file}`, join(folder, file))
    expect(promtool('test', spec, file)).toMatch(/SUCCESS\s*$/)
  },
)
