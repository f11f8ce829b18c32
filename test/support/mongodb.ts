// Starts MongoDB in a container.
import { GenericContainer, Wait } from 'testcontainers'

export type MongodbContainer = Awaited<ReturnType<typeof startMongodb>>

export async function startMongodb() {
  const container = await new GenericContainer(process.env['MONGODB_TEST_IMAGE'] ?? 'mongo:8')
    .withExposedPorts(27017)
    .withWaitStrategy(Wait.forLogMessage(/waiting for connections/i))
    .withStartupTimeout(120_000)
    .start()
  return {
    uri: `mongodb://${container.getHost()}:${container.getMappedPort(27017)}/?directConnection=true`,
    stop: () => container.stop(),
  }
}
