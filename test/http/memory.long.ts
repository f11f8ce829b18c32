// The same attacks with many more clients.
await import('./memory.test.ts')
