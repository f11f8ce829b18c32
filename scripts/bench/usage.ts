// Imported into each server: on a message from the benchmark, reports what the process has used. Ends
// with the benchmark.

/** CPU time of all threads, in microseconds; resident memory, in bytes; milliseconds since the start. */
export type Usage = { cpu: number; memory: number; ms: number }

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const memory = process.memoryUsage.rss()
  const ms = performance.now()
  process.send!({ cpu: user + system, memory, ms } satisfies Usage)
})
process.on('disconnect', () => process.exit())
