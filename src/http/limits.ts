// The limits on what clients can make the service hold or do, with their reasons. SECURITY.md has the table of all
// limits. Times are in milliseconds, sizes in bytes.

export const LIMITS = {
  headersTimeout: 10_000, // to send the headers
  requestTimeout: 30_000, // to send the headers and the body
  timeout: 60_000, // without a byte in either direction; no store takes that long
  keepAliveTimeout: 620_000, // between two requests; Google's load balancer keeps an idle connection for 600 s
  linger: 1_000, // to drop what a refused client still sends: otherwise it would not read its response
  connectionsCheckingInterval: 1_000, // how often these times are checked
  maxConnections: 500, // the memory in use is this number times the larger of a body and a page of a list
  maxHeldConnections: 500, // new ones, which wait for a place; each takes 5 KB, because nothing of it is read
  evictableAfter: 10, // without progress; a new client needs some time to send its request
  maxOperatorConnections: 100, // to the port for operators
  maxHeaders: 100, // in a request; Node keeps each as objects, which take more memory than its text
  maxChunks: 1_000, // of a body; each takes more time than many of its bytes
  maxPieces: 64, // of a body in memory; each takes 300 bytes more than its content, and a merge copies the body
  maxWaitingRequests: 10, // on one connection, after the one that is being served
  maxStartsPerTurn: 64, // requests that start in one turn of the event loop; each may have a response of 100 KB twice in V8's heap
  largeBody: 4 * 1024, // a larger body is parsed and stored with few others: as text it takes several times its size
  maxLargeBodies: 16, // at a time
}

export type Limits = typeof LIMITS

/** The limits that differ between servers; the others are the same for all. */
export type ServerLimits = Omit<
  Limits,
  | 'linger'
  | 'maxOperatorConnections'
  | 'maxHeaders'
  | 'maxChunks'
  | 'maxPieces'
  | 'largeBody'
  | 'maxLargeBodies'
>
