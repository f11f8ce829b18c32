// The faults of service.faults.test.ts in more rounds.
await import('./service.faults.test.ts')
