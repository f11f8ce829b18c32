// What the programs that people run have in common: options, --help, errors and exit codes.
import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>['values']

/** Wrong arguments: exit code 2, with the usage. */
export class UsageError extends Error {}

/**
 * Runs a program to its end. It exits with the code that `main` gives; with 1 and one line on
 * standard error if it fails; with 2 and the usage if its arguments are wrong.
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
    if ('help' in values) {
      console.log(usage)
      process.exit(0)
    }
    process.exit(await main(values as Values<O>, positionals))
  } catch (error) {
    console.error((error as Error).message)
    if (!(error instanceof UsageError)) process.exit(1)
    console.error(usage)
    process.exit(2)
  }
}

/** The exit code of what Ctrl-C has stopped. */
export const STOPPED = 130

/** Is aborted by Ctrl-C and by SIGTERM, which then no longer end the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}

function read(options: Options) {
  try {
    const help = { type: 'boolean', short: 'h' } as const
    return parseArgs({ options: { ...options, help }, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}
