// Before all tests: finds a MongoDB server, which is MONGODB_URI or a container.
import { startMongodb, type MongodbContainer } from './mongodb.ts'

declare global {
  var mongodbContainer: MongodbContainer | undefined
}

export default async function beforeAllTests(): Promise<void> {
  if (process.env['MONGODB_URI']) return
  try {
    globalThis.mongodbContainer = await startMongodb()
    process.env['MONGODB_URI'] = globalThis.mongodbContainer.uri
  } catch (error) {
    process.env['MONGODB_MISSING'] = (error as Error).message
  }
}
