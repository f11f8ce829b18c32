// Before all tests: finds a MongoDB server, which is MONGODB_URI or a container.
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers'

declare global {
  var mongodbContainer: StartedTestContainer | undefined
}

export default async function beforeAllTests(): Promise<void> {
  if (process.env['MONGODB_URI']) return
  try {
    const container = await new GenericContainer(process.env['MONGODB_TEST_IMAGE'] ?? 'mongo:8')
      .withExposedPorts(27017)
      .withWaitStrategy(Wait.forLogMessage(/waiting for connections/i))
      .withStartupTimeout(120_000)
      .start()
    globalThis.mongodbContainer = container
    const address = `${container.getHost()}:${container.getMappedPort(27017)}`
    process.env['MONGODB_URI'] = `mongodb://${address}/?directConnection=true`
  } catch (error) {
    process.env['MONGODB_MISSING'] = (error as Error).message
  }
}
