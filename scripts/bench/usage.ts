// Imported into each server: on a message from the benchmark, reports what the process has used. Ends
// with the benchmark.

/** CPU time of all threads, in microseconds; milliseconds since the start. */
export type Usage = { cpu: number; ms: number }

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const ms = performance.now()
  process.send!({ cpu: user + system, ms } satisfies Usage)
})
process.on('disconnect', () => process.exit())
