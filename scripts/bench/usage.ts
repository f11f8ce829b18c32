// Imported into each server: on a message from the benchmark, reports the CPU time of all its threads, in
// microseconds. Ends with the benchmark.

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send!(user + system)
})
process.on('disconnect', () => process.exit())
