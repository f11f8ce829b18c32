// What the programs share: options, --help, output, errors and exit codes.
import { statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { contract } from '../src/contract/document.ts'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>['values']

/** The end of the usage of a program that opens the store. */
export const STORE = `The store is that of the service: MONGODB_URI if it is set, else users.db in DATA_DIR (./data by
default). Variables come from the environment, or from the file .env in the current folder.`

/** Wrong arguments: exit code 2, with the first line of the usage. */
export class UsageError extends Error {}

/** Runs a program and exits. */
export async function program<O extends Options>(
  ...rest: Parameters<typeof run<O>>
): Promise<never> {
  process.exit(await run(...rest))
}

/**
 * Runs a program.
 *
 * @param usage what --help prints; --version prints the version
 * @returns the exit code: that of `main`, 1 if it fails, or 2 if the arguments are wrong
 */
export async function run<O extends Options>(
  usage: string,
  options: O,
  main: (values: Values<O>, positionals: string[]) => Promise<number>,
  args = process.argv.slice(2),
): Promise<number> {
  try {
    const { values, positionals } = parse(options, args)
    const info = 'help' in values ? usage : 'version' in values && contract.info.version
    if (!info) return await main(values as Values<O>, positionals)
    await print(info)
    return 0
  } catch (error) {
    warn(describeError(error))
    if (!(error instanceof UsageError)) return 1
    warn(`${usage.split('\n', 1)[0]}\nsee --help`)
    return 2
  }
}

function parse(options: Options, args: string[]) {
  try {
    const more = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const
    return parseArgs({ args, options: { ...options, ...more }, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

/** The message of an error, in plain words if it is a common error with a file. */
export function describeError(error: unknown): string {
  const { code = '', path, message } = error as NodeJS.ErrnoException
  if (code === 'EPIPE') return 'the reader of standard output closed it'
  return path && code in FILE_ERRORS ? `${path} ${FILE_ERRORS[code]}` : message
}

const FILE_ERRORS: Record<string, string> = {
  EACCES: 'cannot be opened: permission denied',
  EEXIST: 'exists: give another file',
  ENOENT: 'does not exist',
}

/**
 * Resolves a path from the command line; `-` stays. npm runs a program in the folder of package.json, and
 * INIT_CWD is the folder where the user typed the command.
 *
 * @throws UsageError it is a folder, or in a folder that does not exist
 */
export function fileAt(path: string): string {
  if (path === '-') return path
  const { INIT_CWD = '', npm_lifecycle_event: script } = process.env
  const file = script === basename(process.argv[1]!, '.js') ? resolve(INIT_CWD, path) : path
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (!isFolder(dirname(file))) throw new UsageError(`there is no folder ${dirname(file)}`)
  if (isFolder(file)) throw new UsageError(`${file} is a folder: give a file`)
  return file
}

/** Prints to standard output. @throws Error standard output is closed, or its disk is full */
export const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.once('error', reject)
    process.stdout.write(`${escapeControls(text)}\n`, (error) =>
      error ? reject(error) : resolve(),
    )
  })

/** Prints to standard error. */
export const warn = (text: string): void => console.error(escapeControls(text))

/** `text` with its control characters escaped, so that text from a file cannot control a terminal. */
export const escapeControls = (text: string): string =>
  text.replaceAll(
    /[^\P{Cc}\n]|\p{Bidi_Control}/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The exit code of a program that was stopped by Ctrl-C. */
export const STOPPED = 130

/** A signal that aborts on Ctrl-C or SIGTERM. The first one then does not end the process. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}
