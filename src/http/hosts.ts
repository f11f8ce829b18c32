// The host names that the service answers to. A page of another site can make its own name point to
// 127.0.0.1 (DNS rebinding), and would then share the service's origin in the browser.
import { BlockList, isIPv4, isIPv6 } from 'node:net'

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
export function isLoopback(name: string): boolean {
  if (isIPv4(name)) return name.startsWith('127.')
  const address = name.replace(/^\[(.*)\]$/, '$1')
  return isIPv6(address) ? LOOPBACK.check(address, 'ipv6') : /^(.+\.)?localhost$/.test(name)
}

/** Also contains IPv4 addresses in the form of IPv6, such as `::ffff:127.0.0.1`. */
const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')
