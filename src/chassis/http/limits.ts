// The limits on what clients can make the service hold or do, with their reasons. SECURITY.md has a list of all
// limits. Times are in milliseconds, sizes in bytes.

/** Limits of every server. */
export const LIMITS = {
  linger: 1_000, // to drop what a refused client still sends: otherwise it would not read its response
  maxOperatorConnections: 100, // to the port for operators
  maxHeaders: 100, // in a request; Node keeps each as objects, which take more memory than its text
  maxChunks: 1_000, // of a body; each takes more time than many of its bytes
  maxPieces: 64, // of a body in memory; each takes 300 bytes more than its content, and a merge copies the body
  largeBody: 4 * 1024, // a larger body is parsed and stored with few others: as text it takes several times its size
  maxLargeBodies: 16, // at a time
  signalTimeout: 25_000, // from the arrival of a request to the end of what its handler waits for; proxies wait 30 s or longer
}

/** Limits that may differ between servers. */
export const SERVER_LIMITS = {
  headersTimeout: 10_000, // to send the headers
  requestTimeout: 30_000, // to send the headers and the body
  timeout: 60_000, // without a byte in either direction; no store takes that long
  abandonedAfter: 60_000, // for a handler to end after its client has left; then its place is free
  keepAliveTimeout: 620_000, // between two requests; Google's load balancer keeps an idle connection for 600 s
  connectionsCheckingInterval: 1_000, // how often these times are checked
  maxConnections: 500, // memory ≤ this number × the larger of a body and a page of a list
  maxWaitingConnections: 2_000, // new ones, which wait for a place; each takes 5 KB, because nothing of it is read
  evictableAfter: 1_000, // without progress; a client on a busy machine needs some time to send or read
  evictableIdleAfter: 100, // between two requests: a client can send the next one over another connection
  maxWaitingRequests: 10, // on one connection, after the one that is being served
  maxStartsPerTurn: 64, // requests that start in one turn of the event loop; each may have 100 KB twice in V8's heap
}

export type ServerLimits = typeof SERVER_LIMITS
