// The comparison of app.model.test.ts in three thousand runs.
import './app.model.test.ts'
