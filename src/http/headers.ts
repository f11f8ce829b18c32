// The headers of a request as they were sent. Of several with one name, Node may keep only the first.

/**
 * Whether there is more than one header of this name.
 *
 * @param rawHeaders names and values, alternating
 * @param name in lower case
 */
export function isRepeated(rawHeaders: string[], name: string): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (isNamed(rawHeaders[i]!, name)) count += 1
  return count > 1
}

const isNamed = (header: string, name: string): boolean =>
  header.length === name.length && header.toLowerCase() === name
