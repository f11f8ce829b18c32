// The races of app.races.test.ts in twenty rounds, with more clients.
await import('./app.races.test.ts')
