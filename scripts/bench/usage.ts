// Imported into each server: on a message from its parent, reports what the process has used.
export interface Usage {
  /** CPU time of all threads, in microseconds. */
  cpu: number
  /** Resident memory, in bytes. */
  memory: number
}

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!({ cpu: user + system, memory: process.memoryUsage.rss() } satisfies Usage)
})
process.channel!.unref()
