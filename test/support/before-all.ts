// Before all tests: finds a MongoDB server, MONGODB_URI's or one in a container, and begins the count
// of the responses that the tests see.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers'

declare global {
  var mongodbContainer: StartedTestContainer | undefined
}

export default async function beforeAllTests(): Promise<void> {
  process.env['RESPONSES_SEEN'] = join(mkdtempSync(join(tmpdir(), 'users-service-')), 'seen')
  if (!process.env['MONGODB_URI']) await startMongodb()
}

async function startMongodb(): Promise<void> {
  try {
    const container = await new GenericContainer(process.env['MONGODB_TEST_IMAGE'] ?? 'mongo:8')
      .withExposedPorts(27017)
      .withWaitStrategy(Wait.forLogMessage(/waiting for connections/i))
      .withStartupTimeout(120_000)
      .start()
    const address = `${container.getHost()}:${container.getMappedPort(27017)}`
    process.env['MONGODB_URI'] = `mongodb://${address}/?directConnection=true`
    process.env['MONGODB_IN_CONTAINER'] = 'yes'
    globalThis.mongodbContainer = container
  } catch (error) {
    process.env['MONGODB_MISSING'] = (error as Error).message
  }
}
