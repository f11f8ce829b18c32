// Imported into each server: on a message from the benchmark, reports what the process has used. Ends
// with the benchmark.

/** CPU time of all threads, in microseconds, and resident memory, in bytes. */
export type Usage = { cpu: number; memory: number }

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!({ cpu: user + system, memory: process.memoryUsage.rss() } satisfies Usage)
})
process.on('disconnect', () => process.exit())
