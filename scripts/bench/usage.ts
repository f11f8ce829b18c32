// Imported into each Node server: when asked over the channel to its parent, reports what it has used.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpu: user + system, memory: process.memoryUsage.rss() })
})
process.channel?.unref()
