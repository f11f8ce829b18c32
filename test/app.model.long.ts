// The comparison of app.model.test.ts in many more runs.
await import('./app.model.test.ts')
