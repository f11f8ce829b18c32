// Only for test/http, until it uses rounds.ts.
export { rounds as times } from './rounds.ts'
