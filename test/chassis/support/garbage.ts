// What is still held, as the garbage collector finds out.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
/** A WeakRef keeps what it is made of until the next turn of the event loop: call it after that. */
export const collectGarbage = runInNewContext('gc') as () => void
