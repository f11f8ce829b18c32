// The validators of environment variables: what a service describes its own with.
import { makeValidator, type ValidatorSpec } from 'envalid'
import ms, { type StringValue } from 'ms'

/** Environment variables, by their names. */
export type Variables = Record<string, Variable>

/** A variable of envalid, with a `default`, or required without one. */
export type Variable = ValidatorSpec<unknown> & {
  /** Whether its value is not shown, and may also be in a file that its variable with `_FILE` names. */
  isSecret?: boolean
  /**
   * What is wrong with it beside other variables, as the end of a sentence. `vars` has those that are set, with the texts
   * of files; in `environment`, a variable can also be empty.
   */
  conflict?: (vars: NodeJS.ProcessEnv, environment: NodeJS.ProcessEnv) => string | undefined
}

/**
 * A variable that `parse` reads; it returns undefined for a wrong value.
 *
 * @param rule what it must do or be
 * @param itemsOf splits the value into the parts to check for placeholders
 */
export const variable = <T>(
  rule: string,
  parse: (text: string) => T | undefined,
  itemsOf = (text: string) => [text],
) =>
  makeValidator((text): T => {
    if (itemsOf(text).some(isPlaceholder)) throw new Error(`must ${NOT_REPLACED}`)
    const value = parse(text)
    if (value !== undefined) return value
    throw new Error(`must ${rule}`)
  })

/** What only a shell or a template would replace, and quotes, which `docker run --env-file` keeps. */
const PLACEHOLDER =
  /^(\$\{.*\}|\$\(.*\)|\{\{.*\}\}|<[\w.:'-]+>|<[^<>]*[\s…][^<>]*>|\$[A-Z_][A-Z\d_]{2,}|(["'`]).*\2)$/s

/** Whether a value, or an item of it, is a placeholder. A random secret may have the same characters inside. */
export const isPlaceholder = (text: string): boolean => PLACEHOLDER.test(text)

export const NOT_REPLACED =
  'be the value itself: nothing replaces ${…}, $(…), {{ … }}, <…> or ~ here, or removes quotes; for a secret, use openssl rand -hex 32'

/** A number that `parse` reads; NaN is out of range. @param range names `min` and `max` */
export const number = (range: string, min: number, max: number, parse: (text: string) => number) =>
  variable(`be ${range}`, (text) => {
    const value = parse(text)
    return value >= min && value <= max ? value : undefined
  })

const parseInteger = (text: string) => (/^\d+$/.test(text) ? Number(text) : NaN)

/** A whole number. */
export const integer = (min: number, max: number) =>
  number(`between ${min} and ${max}`, min, max, parseInteger)

/** A duration such as `90s`, `15m` or `1d`; a number without a unit means seconds. @param unit of the value, in milliseconds */
export const duration = (min: string, max: string, unit = 1) => {
  const parse = (text: string) =>
    Math.floor(ms((/^\d+$/.test(text) ? `${text}s` : text) as StringValue) / unit)
  return number(`a duration between ${min} and ${max}`, parse(min), parse(max), parse)
}

/** A text, perhaps of a certain form. @param rule what it must do or be, such as `be one word` */
export const text = (rule = '', isValid: (text: string) => boolean = () => true) =>
  variable(rule, (text) => (isValid(text) ? text : undefined), partsOf)

/** The parts of a URI, such as its credentials; of any other text, the text. */
const partsOf = (text: string) => (/^[\w+.-]+:\/\//.test(text) ? text.split(/[/:@?]/) : [text])

/** A list of texts of a certain form; in a file, lines separate them, too. @param rule what they must be */
export const list = (rule: string, isValid: (text: string) => boolean) =>
  variable(
    `be ${rule}, separated by commas`,
    (text) => (itemsOf(text).every(isValid) ? itemsOf(text) : undefined),
    itemsOf,
  )

const itemsOf = (text: string) => text.split(/\s*[,\n]\s*/)

/** The variable, as a secret: its value is not shown, and may also be in a file. */
export const secret = <V extends Variable>(variable: V) => ({ ...variable, isSecret: true })
