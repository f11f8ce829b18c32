// What the programs share: options, --help, output, errors and exit codes.
import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>['values']

/** Wrong arguments: exit code 2, with the usage. */
export class UsageError extends Error {}

/**
 * Runs a program and exits: with the code that `main` returns, with 1 and a message if it fails, or
 * with 2 and the usage if its arguments are wrong.
 *
 * @param usage what --help prints
 */
export async function program<O extends Options>(
  usage: string,
  options: O,
  main: (values: Values<O>, words: string[]) => Promise<number>,
): Promise<never> {
  try {
    const { values, positionals } = read(options)
    if (!('help' in values)) process.exit(await main(values as Values<O>, positionals))
    await print(usage)
    process.exit(0)
  } catch (error) {
    warn((error as Error).message)
    if (!(error instanceof UsageError)) process.exit(1)
    console.error(usage)
    process.exit(2)
  }
}

function read(options: Options) {
  try {
    const help = { type: 'boolean', short: 'h' } as const
    return parseArgs({ options: { ...options, help }, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

/** Prints to standard output. @throws Error it is full or closed */
export const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.once('error', reject)
    process.stdout.write(`${printable(text)}\n`, (error) => (error ? reject(error) : resolve()))
  })

/** Prints to standard error. */
export const warn = (text: string): void => console.error(printable(text))

/** `text` with its control characters escaped, so that text of a file cannot command a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(
    /[^\P{Cc}\n]|\p{Bidi_Control}/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The exit code of a program that was stopped by Ctrl-C. */
export const STOPPED = 130

/** Aborts on Ctrl-C and SIGTERM, which then do not end the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}
