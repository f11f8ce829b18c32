// The JSON bodies of responses.
import { LIMITS } from './limits.ts'

/** A long text as bytes, which are not in V8's heap while the client does not read them. */
export const contentOfText = (text: string): string | Buffer =>
  text.length > LIMITS.largeBody ? Buffer.from(text) : text

/** The media type of every JSON body. */
export const JSON_TYPE = 'application/json; charset=utf-8'
