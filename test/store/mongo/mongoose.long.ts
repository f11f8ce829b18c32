// An application on mongoose, with the commonest schema there is, and the service beside it: both go on.
import { expect, test } from '@jest/globals'
import mongoose from 'mongoose'
import { started, useUndo } from '../../support/program.ts'
import { send } from '../../support/service.ts'
import { describeMongodb, mongodbPlace } from '../../support/stores.ts'

const undo = useUndo()

/** The model of an application that is connected to the same database as the service. */
async function startApplication(uri: string) {
  const connection = await mongoose.createConnection(uri).asPromise()
  undo.push(() => connection.close())
  const schema = new mongoose.Schema(
    { name: String, email: { type: String, unique: true }, roles: [String] },
    { timestamps: true },
  )
  const model = connection.model('User', schema)
  await model.init() // its index: email_1
  return model
}

describeMongodb('beside an application on mongoose', () => {
  test('the service and the application see, change and refuse the same users', async () => {
    const place = mongodbPlace()
    undo.push(() => place.remove())
    const User = await startApplication(place.MONGODB_URI!)
    const ada = await User.create({ name: 'Ada', email: 'ada@example.com', roles: ['admin'] })
    const service = await started(place)
    const port = Number(new URL(service.url()).port)

    const login = await send(port, 'POST /login', { json: { email: 'ada@example.com' } })
    expect(login.status).toBe(200)
    const listed = await send(port, 'GET /users')
    expect(listed.json).toMatchObject([{ id: ada.id, name: 'Ada', email: 'ada@example.com' }])

    const grace = { name: 'Grace', email: 'grace@example.com' }
    const created = await send(port, 'POST /users', { json: grace })
    expect(created.status).toBe(201)
    expect(await User.findOne({ email: grace.email })).toMatchObject({ name: 'Grace', roles: [] })
    await expect(User.create(grace)).rejects.toMatchObject({ code: 11_000 })
    expect((await send(port, 'POST /users', { json: grace })).status).toBe(400)

    await User.updateOne({ email: grace.email }, { name: 'Grace Hopper' })
    const path = `/users/${created.json.id}`
    expect((await send(port, `GET ${path}`)).json).toMatchObject({ name: 'Grace Hopper' })
    const renamed = await send(port, `PUT /users/${ada.id}`, { json: { name: 'Ada Lovelace' } })
    expect(renamed.status).toBe(204)
    const stored = await User.findById(ada.id)
    expect(stored).toMatchObject({
      name: 'Ada Lovelace',
      roles: ['admin'],
      createdAt: ada.get('createdAt'),
    })

    await User.deleteOne({ email: grace.email })
    expect((await send(port, `GET ${path}`)).status).toBe(404)
    expect((await send(port, `DELETE /users/${ada.id}`)).status).toBe(204)
    expect(await User.countDocuments()).toBe(0)
  })
})
