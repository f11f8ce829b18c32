// Starts MongoDB in a container. Testcontainers has packages of its own, so it is installed in this
// folder, the first time that it is needed.
import { execSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** @type {import('./container.d.mts').startMongodb} */
export async function startMongodb(port) {
  execSync('npm run --silent tools', { cwd: fileURLToPath(new URL('.', import.meta.url)) })
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers')
  const container = await new GenericContainer(process.env.MONGODB_TEST_IMAGE ?? 'mongo:8')
    .withExposedPorts(port ? { container: 27017, host: port } : 27017)
    .withWaitStrategy(Wait.forLogMessage(/waiting for connections/i))
    .withStartupTimeout(120_000)
    .start()
  const client = await getContainerRuntimeClient()
  return {
    uri: `mongodb://${container.getHost()}:${container.getMappedPort(27017)}/?directConnection=true`,
    stop: () => container.stop(),
    engine: client.container.getById(container.getId()),
  }
}
