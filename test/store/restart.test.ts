// A rolling restart: clients send their requests to those of two copies of the service that are ready.
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { Load } from '../support/load.ts'
import { started, useUndo } from '../support/program.ts'
import { describeStores, SECRET, usePlaces, usersAt } from '../support/stores.ts'

describeStores((kind) => {
  const undo = useUndo()
  const at = usePlaces()

  test('a rolling restart under load fails no request and loses no user', async () => {
    const place = at(kind)
    const start = () => started(place, { SIGNING_SECRET: SECRET, STOP_DELAY: '1s' })
    const copies = await Promise.all([start(), start()])
    let ready: Awaited<ReturnType<typeof start>>[] = []
    const ask = async () => {
      const asked = copies.map((copy) => copy.probe('/readyz').catch(() => undefined))
      const responses = await Promise.all(asked)
      ready = copies.filter((_, i) => responses[i]?.status === 200)
    }
    const asking = setInterval(() => void ask(), 50)
    undo.push(() => clearInterval(asking))
    let turn = 0
    const load = new Load(() => ready[(turn += 1) % ready.length]!.url(), 'restart')
    for (const i of [0, 1]) {
      while (ready.length < 2) await sleep(10)
      load.start(2)
      await load.more(201)
      copies[i]!.process.kill('SIGTERM')
      expect(await copies[i]!.ended).toBe(0)
      copies[i] = await start()
    }
    await load.more(201)
    await load.stop()
    expect([200, 201, 204, 404]).toEqual(expect.arrayContaining([...load.outcomes.keys()]))
    expect(load.contradictedBy(await usersAt(place))).toEqual([])
  })
})
