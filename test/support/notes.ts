// A service with a contract of its own, notes.yaml: for tests of what is the same in every service.
import { expect } from '@jest/globals'
import Koa from 'koa'
import { operationsOf } from '../../src/chassis/contract/resolve.ts'
import type { Handlers } from '../../src/chassis/contract/handlers.ts'
import type { Reply } from '../../src/chassis/contract/reply.ts'
import { createRouter, unmatched } from '../../src/chassis/contract/router.ts'
import { respondToErrors } from '../../src/errors.ts'
import { HttpError } from '../../src/chassis/http/http-error.ts'
import { notesContract } from './contract.ts'
import { post, postHead } from './requests.ts'
import { send, startApp, useStarted } from './service.ts'

export interface Note {
  text: string
  tag: string
}
type Handler = (input: Input) => Reply | Promise<Reply>
interface Input {
  body: Partial<Note>
}
type Operation = 'listNotes' | 'addNote' | 'readNote' | 'changeNote'

export const NO_NOTE = new HttpError(404, 'path_not_found', 'no note')
/** The note, which is not kept. */
export const added = ({ body }: Input) => ({
  status: 201,
  headers: { 'X-Kind': 'note' },
  body: { text: '', tag: '', ...body },
})

const HANDLERS: Record<Operation, Handler> = {
  listNotes: () => ({ status: 200, body: [] }),
  addNote: added,
  readNote: () => {
    throw NO_NOTE
  },
  changeNote: (input) => ({ ...added(input), status: 200 }),
}

/** A service of notes that runs, until `close`. */
export function startNotes(
  handlers: Partial<typeof HANDLERS> = {},
  options?: Parameters<typeof startApp>[1],
) {
  const app = new Koa()
  respondToErrors(app)
  const operations = { ...HANDLERS, ...handlers } as unknown as Handlers
  app.use(createRouter(operations, operationsOf(notesContract)).routes())
  app.use(unmatched)
  return startApp(app, options)
}

type Limits = NonNullable<Parameters<typeof startApp>[1]>['limits']

/** Starts one service of notes for the tests of a suite. */
export const useNotes = (handlers?: Partial<typeof HANDLERS>, limits?: Limits) =>
  useStarted(() => startNotes(handlers, { limits }))

export const addNoteHead = (headers: string) => postHead(headers, '/notes')
export const addNote = (body: string | Partial<Note>, headers?: string) =>
  post(typeof body === 'string' ? body : JSON.stringify(body), headers, '/notes')

/** What a client of notes does that means no harm; each response is what it should be. */
export async function useNoteService(port: number): Promise<void> {
  const json = { text: 'x', tag: '' }
  expect(await send(port, 'POST /notes', { json })).toMatchObject({ status: 201, json })
  expect((await send(port, 'GET /nothing')).status).toBe(404)
}
