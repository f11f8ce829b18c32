// The generated requests of guard.test.ts, a hundred thousand of them.
import './guard.test.ts'
