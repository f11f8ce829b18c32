// Imported into each server under test: tells the benchmark, over its channel, what the process used.
export interface Usage {
  /** CPU time since the start, in microseconds: user and system, all threads. */
  cpu: number
  /** Memory, in bytes: now, and at its highest. */
  memory: number
  peak: number
}

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const usage: Usage = {
    cpu: user + system,
    memory: process.memoryUsage.rss(),
    peak: process.resourceUsage().maxRSS * 1024,
  }
  process.send?.(usage)
})
process.channel?.unref()
