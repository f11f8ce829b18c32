// The limits on what clients can use of the service, with their reasons. SECURITY.md has the table of all limits.
// Times are in milliseconds, sizes in bytes.

export const LIMITS = {
  headersTimeout: 10_000, // to send the headers
  requestTimeout: 30_000, // to send the headers and the body
  responseTimeout: 600_000, // to read a response: `timeout` does not stop a reader that is slow but not silent
  timeout: 60_000, // without a byte in either direction; no store takes that long
  keepAliveTimeout: 65_000, // between two requests; load balancers usually keep an idle connection for 60 s
  linger: 1_000, // to read and drop what a refused client still sends: otherwise it would not read its response
  connectionsCheckingInterval: 1_000, // how often these times are checked
  maxConnections: 800, // Node reads up to 64 KiB of each at once, before any other limit applies
  maxOperatorConnections: 100, // to the port for operators
  maxHeaders: 100, // in a request; Node keeps each as objects, which take more memory than its text
  requestsPerTurn: 64, // of the event loop, which accepts one connection in each
  waitingRequests: 10, // on one connection, after the one that is being served
  memory: 48 * 1024 * 1024, // for headers, bodies, responses and parts of lists in flight, all clients together
  begun: 16 * 1024 * 1024, // of that, for bodies, and as much for lists; further ones wait until there is room again
  longPart: 1024 * 1024, // a part that may take more belongs to a list
  patience: 500, // without progress, while others wait for room; a body may take four times as long in all
  work: 8 * 1024 * 1024, // for bodies that are worked on: each takes several times its size
  slice: 64 * 1024, // of such work, after which other requests are served and connections accepted
  turns: 4, // large parts of bodies and lists in one turn of the event loop: more would make other requests wait
  smallPart: 4 * 1024, // headers, a body or a part of a list up to this size do not count
}

export type Limits = typeof LIMITS
