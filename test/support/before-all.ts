// Before all tests: finds a MongoDB server, which is MONGODB_URI or a container, and starts to record the
// responses that the tests see.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongodb, type MongodbContainer } from '../mongodb/container.mjs'

declare global {
  var mongodbContainer: MongodbContainer | undefined
}

export default async function beforeAllTests(): Promise<void> {
  process.env['RESPONSES_SEEN'] = join(mkdtempSync(join(tmpdir(), 'users-service-')), 'seen')
  if (process.env['MONGODB_URI']) return
  try {
    globalThis.mongodbContainer = await startMongodb()
    process.env['MONGODB_URI'] = globalThis.mongodbContainer.uri
    process.env['MONGODB_IN_CONTAINER'] = 'yes'
  } catch (error) {
    process.env['MONGODB_MISSING'] = (error as Error).message
  }
}
