// The generated requests of guard.test.ts, a hundred thousand of them.
await import('./guard.test.ts')
