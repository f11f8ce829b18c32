// The races of app.races.test.ts in a hundred rounds.
import './app.races.test.ts'
