// The host names that the service answers to. A page of another site can make its own name point to
// 127.0.0.1 (DNS rebinding), and would then share the service's origin in the browser.
import { isIPv4 } from 'node:net'

/** Whether a request may name this host in `Host`: a name or an address, perhaps with a port. */
export type HostCheck = (host: string) => boolean

/**
 * @param bound the address that the service listens on, as its socket has it: many names mean a loopback address
 * @param allowed further names, without a port; if there are none, a service that listens on more than
 * loopback answers to every name
 */
export function hostCheck(bound: string, allowed: string[]): HostCheck {
  const isLocal = isLoopback(bound)
  if (!isLocal && allowed.length === 0) return () => true
  const names = new Set(allowed.map((name) => name.toLowerCase()))
  return (host) => {
    const name = host.replace(/\.?(:\d*)?$/, '').toLowerCase() // `localhost.` is the same name
    return names.has(name) || (isLocal && isLoopback(name))
  }
}

/** Whether a name or an address always means this machine (RFC 6761 §6.3). */
export const isLoopback = (name: string): boolean =>
  isIPv4(name) ? name.startsWith('127.') : LOOPBACK.test(name)

/** `::1` also with its zeros, `::ffff:127.0.0.1` also as URLs have it: `::ffff:7f00:1`. No domain name has a colon. */
const LOOPBACK =
  /^((.+\.)?localhost|\[?(0{0,4}:)+(0{0,3}1|ffff:(127\.[\d.]+|7f[\da-f]{2}:[\da-f]{1,4}))\]?)$/
