// Starts MongoDB in a container.
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'

export type MongodbContainer = Awaited<ReturnType<typeof startMongodb>>

/** @param port the port on this machine, which stays the same when the container is started again */
export async function startMongodb(port?: number) {
  const container = await new GenericContainer(process.env['MONGODB_TEST_IMAGE'] ?? 'mongo:8')
    .withExposedPorts(port ? { container: 27017, host: port } : 27017)
    .withWaitStrategy(Wait.forLogMessage(/waiting for connections/i))
    .withStartupTimeout(120_000)
    .start()
  const client = await getContainerRuntimeClient()
  return {
    uri: `mongodb://${container.getHost()}:${container.getMappedPort(27017)}/?directConnection=true`,
    stop: () => container.stop(),
    /** The container as the engine knows it, which lets a test make it fail. */
    engine: client.container.getById(container.getId()),
  }
}
