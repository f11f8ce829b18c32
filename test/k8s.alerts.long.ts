// The alerts: promtool runs them. (Their sections of the runbook: k8s.long.ts.)
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { newFolder, read, readYaml } from './support/readme.ts'

const runbook = read('k8s/runbook.md')
const { spec } = readYaml('k8s/components/monitoring/prometheusrule.yaml')

const testPromtool = spawnSync('promtool', ['--version']).status === 0 ? test : test.skip
const folder = newFolder()

function promtool(command: string[], files: Record<string, object>): string {
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), dump(content))
  const { stdout, stderr } = spawnSync('promtool', command, { cwd: folder, encoding: 'utf8' })
  return stdout + stderr
}

testPromtool('the queries of the runbook are valid', () => {
  const queries = [...runbook.matchAll(/^```promql\n(.*?)^```$/gms)]
  const rules = queries.map(([, expr], i) => ({ record: `query_${i}`, expr }))
  const files = { 'queries.yml': { groups: [{ name: 'runbook', rules }] } }
  expect(promtool(['check', 'rules', 'queries.yml'], files)).toMatch(/SUCCESS: \d/)
})

/**
 * At each time exactly these alerts fire, each of them once.
 *
 * @param series lines such as `up{job="x"} 1x10`, in promtool's notation
 * @param expected such as `{ '5m': ['UsersServiceDown users'] }`, with the namespace
 */
function expectAlerts(series: string, expected: Record<string, string[]>, interval = '15s'): void {
  const lines = [...series.matchAll(/^ *(.*}) (.*)$/gm)]
  const input_series = lines.map(([, series, values]) => ({ series, values }))
  const promql_expr_test = Object.entries(expected).map(([eval_time, alerts]) => ({
    expr: 'sum by (alertname, namespace) (ALERTS{alertstate="firing"})',
    eval_time,
    exp_samples: alerts.map((alert) => ({
      labels: alert.replace(/(.*) (.*)/, '{alertname="$1", namespace="$2"}'),
      value: 1,
    })),
  }))
  const tests = [{ interval, input_series, promql_expr_test }]
  const run = { rule_files: ['rules.yml'], evaluation_interval: interval, tests }
  const output = promtool(['test', 'rules', 'test.yml'], { 'rules.yml': spec, 'test.yml': run })
  expect(output).toMatch(/SUCCESS\s*$/)
}

testPromtool(
  'an outage of 60 s alerts until at most 2 minutes after it; a failover of 10 s and three 500s at night do not',
  () => {
    const series = `
    http_request_duration_seconds_count{job="users-service", namespace="outage", status="500"} 0x240 900+900x3 3600x60
    http_request_duration_seconds_count{job="users-service", namespace="outage", status="200"} 0+900x240 216000x4 216900+900x60
    http_request_duration_seconds_count{job="users-service", namespace="failover", status="500"} 0x240 600x64
    http_request_duration_seconds_count{job="users-service", namespace="failover", status="200"} 0+900x240 216300+900x64
    http_request_duration_seconds_count{job="users-service", namespace="night", status="500"} 0x240 3x64
    http_request_duration_seconds_count{job="users-service", namespace="night", status="200"} 0+1.5x304`
    const outage = ['UsersServiceErrors outage']
    expectAlerts(series, { '60m': [], '60m45s': outage, '61m30s': outage, '63m': [] })
  },
)

testPromtool('without a ready pod UsersServiceDown fires, until a day after pods are gone', () => {
  const series = `
    up{job="users-service", namespace="deleted"} 1x10 stale _x1600
    users_service_ready{job="users-service", namespace="deleted"} 1x10 stale _x1600
    up{job="users-service", namespace="unreachable"} 1x10 0x1600
    users_service_ready{job="users-service", namespace="unreachable"} 1x10 stale _x1600
    up{job="users-service", namespace="unready"} 1x1611
    users_service_ready{job="users-service", namespace="unready"} 1x10 0x1600
    up{job="users-service", namespace="watched"} 1x1611
    users_service_ready{job="users-service", namespace="watched"} 1x1611`
  const others = ['UsersServiceDown unreachable', 'UsersServiceDown unready']
  const all = ['UsersServiceDown deleted', ...others]
  expectAlerts(series, { '10m': [], '12m': all, '24h': all, '24h15m': others }, '1m')
})

/** What is wrong in the namespace `users` from 10 to 35 minutes, and what is not wrong in `other`. */
const CASES: Record<string, string> = {
  'UsersServiceErrors: 4 % for a while, not 1 %': `
    http_request_duration_seconds_count{job="users-service", namespace="users", status="500"} 0x39 0+30x99 3000x200
    http_request_duration_seconds_count{job="users-service", namespace="users", status="200"} 0+720x340
    http_request_duration_seconds_count{job="users-service", namespace="other", status="500"} 0+10x340
    http_request_duration_seconds_count{job="users-service", namespace="other", status="200"} 0+990x340`,
  'UsersServiceStoreFails: five failures in a minute': `
    store_operation_failures_total{job="users-service", namespace="users", operation="find"} 0x39 0+2x99 200x200
    store_operation_failures_total{job="users-service", namespace="other", operation="find"} 0+1x340`,
  'UsersServiceStoreEmpty: a store that had users, not a new or an unreachable one': `
    store_has_records{job="users-service", namespace="users", pod="a"} 1x39 0x99 1x200
    users_service_ready{job="users-service", namespace="users"} 1x340
    store_has_records{job="users-service", namespace="new"} 0x340
    users_service_ready{job="users-service", namespace="new"} 1x340
    store_has_records{job="users-service", namespace="unreachable"} 1x39 0x340
    users_service_ready{job="users-service", namespace="unreachable"} 1x39 0x340
    store_has_records{job="users-service", namespace="restarted", pod="a"} 1x39 0x340
    store_has_records{job="users-service", namespace="restarted", pod="b"} 1x340
    users_service_ready{job="users-service", namespace="restarted"} 1x340`,
  'UsersServiceSlow: slow responses, not slow lists or failures': `
    http_request_duration_seconds_bucket{job="users-service", namespace="users", status="200", le="0.5"} 0+9x39 360x99 360+9x200
    http_request_duration_seconds_bucket{job="users-service", namespace="users", status="200", le="1"} 0+9x340
    http_request_duration_seconds_bucket{job="users-service", namespace="users", status="200", le="+Inf"} 0+9x340
    http_request_duration_seconds_bucket{job="users-service", namespace="other", status="500", le="1"} 0+9x340
    http_request_duration_seconds_bucket{job="users-service", namespace="other", status="500", le="+Inf"} 0+9x340
    http_request_duration_seconds_bucket{job="users-service", namespace="other", operation="listUsers", le="1"} 0+9x340
    http_request_duration_seconds_bucket{job="users-service", namespace="other", operation="listUsers", le="+Inf"} 0+9x340`,
  'UsersServiceRefusesTokens: many invalid tokens, not expired ones': `
    tokens_refused_total{job="users-service", namespace="users", reason="invalid"} 0x39 0+300x99 30000x200
    tokens_refused_total{job="users-service", namespace="burst", reason="invalid"} 0x131 0+3000x3 9000x200
    tokens_refused_total{job="users-service", namespace="other", reason="expired"} 0+30x340`,
  'UsersServiceEventLoopLag: more than 0.1 s': `
    nodejs_eventloop_lag_p99_seconds{job="users-service", namespace="users"} 0.01x39 0.2x99 0.01x200
    nodejs_eventloop_lag_p99_seconds{job="users-service", namespace="other"} 0.09x340`,
  'UsersServiceDropsConnections: for a while, whatever the reason, not in a burst': `
    http_connections_dropped_total{job="users-service", namespace="users", reason="evicted"} 0x340
    http_connections_dropped_total{job="users-service", namespace="users", reason="refused"} 0x39 0+1x99 100x200
    http_connections_dropped_total{job="users-service", namespace="burst", reason="evicted"} 0x131 0+500x3 1500x200`,
  'UsersServiceDropsLogLines: when the counter rises': `
    log_lines_dropped_total{job="users-service", namespace="users"} 0x39 0+1x99 100x200
    log_lines_dropped_total{job="users-service", namespace="other"} 100x340`,
  'UsersServiceRolloutStuck: when Kubernetes says so': `
    kube_deployment_status_condition{namespace="users", deployment="users-service", condition="Progressing", status="false"} 0x39 1x99 0x200
    kube_deployment_status_condition{namespace="other", deployment="users-service", condition="Available", status="false"} 1x340
    kube_deployment_status_condition{namespace="other", deployment="another", condition="Progressing", status="false"} 1x340`,
  'UsersServiceRestarts: three in half an hour, not one': `
    kube_pod_container_status_restarts_total{namespace="users", container="users-service"} 0x39 0+1x3 3x300
    kube_pod_container_status_restarts_total{namespace="other", container="users-service"} 0x39 1x300
    kube_pod_container_status_restarts_total{namespace="other", container="another"} 0+1x340`,
  'UsersServiceAtMaximum: as many pods as allowed': `
    kube_horizontalpodautoscaler_status_current_replicas{namespace="users", horizontalpodautoscaler="users-service"} 9x39 10x99 9x200
    kube_horizontalpodautoscaler_spec_max_replicas{namespace="users", horizontalpodautoscaler="users-service"} 10x340
    kube_horizontalpodautoscaler_status_current_replicas{namespace="other", horizontalpodautoscaler="another"} 10x340
    kube_horizontalpodautoscaler_spec_max_replicas{namespace="other", horizontalpodautoscaler="another"} 10x340`,
  'UsersServiceVolumeFills: a volume over 80 %': `
    kubelet_volume_stats_used_bytes{namespace="users", persistentvolumeclaim="users-service"} 79x39 81x99 79x200
    kubelet_volume_stats_capacity_bytes{namespace="users", persistentvolumeclaim="users-service"} 100x340
    kubelet_volume_stats_used_bytes{namespace="other", persistentvolumeclaim="another"} 99x340
    kubelet_volume_stats_capacity_bytes{namespace="other", persistentvolumeclaim="another"} 100x340`,
  'UsersServiceBackupMissing: the last success is 26 hours ago': `
    kube_cronjob_status_last_successful_time{namespace="users", cronjob="users-service-backup"} -93000x139 0x200
    kube_cronjob_created{namespace="users", cronjob="users-service-backup"} -999999x340
    kube_cronjob_created{namespace="new", cronjob="users-service-backup"} 0x340
    kube_cronjob_created{namespace="other", cronjob="another"} -999999x340`,
  'UsersServiceBackupMissing: it has never succeeded': `
    kube_cronjob_created{namespace="users", cronjob="users-service-backup"} -93000x139 0x200`,
}

testPromtool.each(Object.entries(CASES))('%s', (rule, series) => {
  expectAlerts(series, { '9m': [], '34m': [rule.replace(/:.*/, ' users')], '70m': [] })
})
