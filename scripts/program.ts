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
export const STORE = `The store is the service's: MONGODB_URI if it is set, else users.db in DATA_DIR (./data by default).`

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
  main: (values: Values<O>, words: string[]) => Promise<number>,
  args = process.argv.slice(2),
): Promise<number> {
  try {
    const { values, positionals } = read(options, args)
    const isAsked = 'help' in values || 'version' in values
    if (!isAsked) return await main(values as Values<O>, positionals)
    await print('help' in values ? usage : contract.info.version)
    return 0
  } catch (error) {
    warn(sentenceOf(error))
    if (!(error instanceof UsageError)) return 1
    warn(`${usage.split('\n', 1)[0]}\nsee --help`)
    return 2
  }
}

function read(options: Options, args: string[]) {
  try {
    const more = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const
    return parseArgs({ args, options: { ...options, ...more }, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

/** What an error says: a plain sentence if it is one of the usual errors with files. */
export function sentenceOf(error: unknown): string {
  const { code = '', path, message } = error as NodeJS.ErrnoException
  return path && code in SENTENCES ? `${path} ${SENTENCES[code]}` : message
}

const SENTENCES: Record<string, string> = {
  EACCES: 'cannot be opened: permission denied',
  EEXIST: 'exists: give another file',
  ENOENT: 'does not exist',
}

/**
 * The path of the file that the user means by `path`; `-` stays. npm runs a program in the folder of
 * package.json, and INIT_CWD is where the user typed the command.
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
    process.stdout.write(`${printable(text)}\n`, (error) => (error ? reject(error) : resolve()))
  })

/** Prints to standard error. */
export const warn = (text: string): void => console.error(printable(text))

/** `text` with its control characters escaped, so that text from a file cannot control a terminal. */
export const printable = (text: string): string =>
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
