// Loaded into every worker of jest. Jest complains about a worker that takes more than 500 ms to exit, and freeing its
// memory takes longer under load. One with something left to do does not get here, so it is still found.
if (process.send && process.env.JEST_WORKER_ID)
  process.on('exit', () => process.kill(process.pid, 'SIGKILL'))
