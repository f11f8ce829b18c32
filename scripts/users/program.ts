// What the programs share: options, --help, output, errors and exit codes.
import { statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { contract } from '../../src/contract.ts'

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>['values']

/** The end of the usage of a program that opens the store. */
export const STORE = `The store is that of the service: MONGODB_URI if it is set, else users.db in
DATA_DIR (./data by default). Variables come from the environment, or from the
file .env in the current folder.`

/** Wrong arguments: exit code 2, with the first line of the usage. */
export class UsageError extends Error {}

/**
 * Runs a program and exits: with the code that `main` returns, 1 if it fails, or 2 if the arguments are wrong.
 *
 * @param usage what --help prints; --version prints the version
 */
export async function program<O extends Options>(
  usage: string,
  options: O,
  main: (values: Values<O>, positionals: string[]) => Promise<number>,
): Promise<never> {
  const more = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const
  const text = isRunByNpm() ? usage.replace(/^usage: (\S+)/, 'usage: npm run $1 --') : usage
  try {
    const all = { ...options, ...more }
    const parsed = parseArgs({ options: all, allowPositionals: true, tokens: true })
    const { values, positionals } = parsed
    checkOnce(parsed.tokens)
    checkTaken(options, values)
    const info =
      'help' in values ? text : 'version' in values && contract.contents().document.info.version
    if (!info) return await exit(await main(values, positionals))
    await print(info)
    return await exit(0)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    warn(messageOf(error))
    if (isAborted(error)) return exit(STOPPED)
    if (!(error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS_'))) return exit(1)
    warn(`${text.split('\n', 1)[0]}\nsee --help`)
    return exit(2)
  }
}

/** @throws UsageError an option was given twice: only the last one would count */
function checkOnce(tokens: { kind: string; name?: string }[]): void {
  const names = tokens.filter(({ kind }) => kind === 'option').map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice) throw new UsageError(`--${twice} was given twice`)
}

/** Whether npm has begun this program, and no other script of package.json. */
const isRunByNpm = () => process.env['npm_lifecycle_event'] === basename(process.argv[1]!, '.js')

/**
 * npm takes the options before `--` for itself, and sets variables, as it does for those of `.npmrc`.
 *
 * @throws UsageError an option was not given, and a variable has what only a person can have meant for it
 */
export function checkTaken(options: Options, given: object, env = process.env): void {
  if (!env['npm_lifecycle_event']) return
  for (const option of Object.keys({ 'dry-run': {}, id: {}, ...options })) {
    // npm also knows `--dry_run`, and reads `--update` as `--update-notifier`.
    const variable = new RegExp(`^npm_config_${option.replace('-', '_?')}(_notifier)?$`)
    const isTaken = ([name, value]: [string, string?]) =>
      value && variable.test(name) && (MEANT.has(option) || /^true$|\{/.test(value))
    if (!(option in given) && Object.entries(env).some(isTaken)) throw takenByNpm(option)
  }
}

/** Whatever their value: a mailbox and a format can be in `.npmrc` for years. */
const MEANT = new Set(['name', 'id'])

const takenByNpm = (option: string) =>
  new UsageError(
    `npm has taken --${option} for itself: put -- before the options (or .npmrc has it)`,
  )

/** What a program says of an error. */
export function messageOf(error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException
  if (isAborted(error)) return 'stopped before it was done'
  if (code === 'EPIPE') return 'the reader of standard output closed it'
  return path && code === 'ENOENT' ? `${path} does not exist` : message
}

/** Exits after standard error is written: its reader may be slow. */
const exit = (code: number) =>
  new Promise<never>(() => process.stderr.write('', () => process.exit(code)))

/**
 * Resolves a path from the command line; `-` stays. npm runs a program in the folder of package.json, and
 * INIT_CWD is the folder where the user typed the command.
 *
 * @throws UsageError it is a folder, or in a folder that does not exist
 */
export function fileAt(path: string): string {
  if (path === '-') return path
  const file = isRunByNpm() ? resolve(process.env['INIT_CWD'] ?? '', path) : path
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (!isFolder(dirname(file))) throw new UsageError(`there is no folder ${dirname(file)}`)
  if (isFolder(file)) throw new UsageError(`${file} is a folder: give a file`)
  return file
}

/** The file to write, as `fileAt`. @throws UsageError also if npm writes to standard output, too */
export function outputAt(path: string): string {
  if (path === '-' && isRunByNpm() && process.env['npm_config_loglevel'] !== 'silent')
    throw new UsageError('npm writes to standard output, too: use npm run --silent')
  return fileAt(path)
}

/** Prints to standard output. @throws Error standard output is closed, or its disk is full */
export const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve())
    process.stdout.once('error', done).write(`${escapeControls(text)}\n`, done)
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

const isAborted = (error: unknown) => (error as Error).name === 'AbortError'

/** A signal that aborts on Ctrl-C or SIGTERM. The first one then does not end the process. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}
