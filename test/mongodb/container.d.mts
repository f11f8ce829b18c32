export interface MongodbContainer {
  uri: string
  stop: () => Promise<unknown>
  /** The container as the engine knows it, which lets a test make it fail. */
  engine: Record<'kill' | 'start' | 'pause' | 'unpause', () => Promise<unknown>>
}

/** @param port the port on this machine, which stays the same when the container is started again */
export function startMongodb(port?: number): Promise<MongodbContainer>
