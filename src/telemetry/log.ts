// The log: lines of JSON, or readable lines in a terminal. Never contains a token or a body.
import { writeSync } from 'node:fs'
import { inspect } from 'node:util'
import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/**
 * A logger of `level` and above, to standard output by default.
 *
 * @param onDrop called for each line that could not be written: the disk is full, or the reader too slow
 */
export function createLogger(
  level: string,
  onDrop: () => void = () => {},
  to: DestinationStream = process.stdout.isTTY ? terminal : standardOutput(onDrop),
): Logger {
  const options = { base: null, serializers: { err: describe }, hooks: { streamWrite: escaped } }
  return pino({ level, ...options }, to)
}

/**
 * Writes the lines of one turn of the event loop together: with 64 connections, a GET by id takes 3 % less time
 * (`npm run bench`). Writes sooner when there are more than 64 KB, because the requests of one turn could fill the
 * queue. While the reader of a pipe is slow, keeps up to a megabyte instead of blocking. Lines that it can neither keep
 * nor write are dropped.
 */
function standardOutput(onDrop: () => void): DestinationStream {
  let waiting = Buffer.alloc(0)
  let lines = ''
  let isInLine = false // whether the last byte written is not the end of a line
  let timer: NodeJS.Immediate | NodeJS.Timeout | undefined

  function write(): void {
    waiting = Buffer.concat([waiting, Buffer.from(lines)])
    lines = ''
    try {
      while (waiting.length > 0) {
        const written = writeSync(STDOUT, waiting)
        isInLine = waiting[written - 1] !== LINE_FEED
        waiting = waiting.subarray(written)
      }
    } catch (error) {
      const isFull = (error as NodeJS.ErrnoException).code === 'EAGAIN'
      if (isFull) timer ??= setTimeout(writeLater, 10).unref()
      else drop()
    }
  }

  function writeLater(): void {
    timer = undefined
    write()
  }

  function drop(): void {
    for (const byte of waiting) if (byte === LINE_FEED) onDrop()
    waiting = Buffer.from(isInLine ? '\n' : '')
  }

  process.on('exit', write)
  return {
    write(line) {
      if (waiting.length + lines.length > LONGEST_QUEUE) return onDrop()
      lines += line
      if (lines.length > MOST_TOGETHER) write()
      timer ??= setImmediate(writeLater)
    },
  }
}

const LINE_FEED = 10
const STDOUT = 1
const MOST_TOGETHER = 64 * 1024 // in characters
const LONGEST_QUEUE = 1024 * 1024 // in bytes

const terminal: DestinationStream = {
  write: (line) => void process.stdout.write(readable(line)),
}

/** One line of the log, for a terminal: `07:12:33 GET /users 200 1.5 ms { id: 'c3f0…' }`. */
export function readable(line: string): string {
  const { time, level, msg, err, method, path, status, ms, ...fields } = JSON.parse(line)
  const clock = new Date(time).toTimeString().slice(0, 8)
  const label = level === pino.levels.values['info'] ? '' : `${pino.levels.labels[level]}: `
  const text = method ? `${method} ${path} ${status ?? msg} ${ms} ms` : String(msg)
  const more = { ...fields, ...(err && { err: err.message }) }
  const rest = inspect(more, { colors: true, breakLength: Infinity })
  const stack = err?.stack ? `${escaped(err.stack)}\n` : ''
  return `${clock} ${label}${escaped(text)} ${rest === '{}' ? '' : rest}\n${stack}`
}

/** Escapes control characters as JSON does, except the end of a line: a terminal would obey them. */
const escaped = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- \p{Cc} would take four times as long
  text.replace(/[\0-\t\v-\x1f\x7f-\x9f]/g, (control) => {
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
  })

/**
 * An error and its causes: only the fields that are known to be harmless, because drivers add whole
 * documents to their errors.
 */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack, cause } = error
  const { code } = error as NodeJS.ErrnoException
  return {
    type: name,
    message,
    code,
    stack,
    ...(cause !== undefined && { cause: describe(cause) }),
  }
}
