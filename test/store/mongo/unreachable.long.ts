// The outages of unreachable.test.ts in more rounds: the driver hangs after some of them only.
await import('./unreachable.test.ts')
