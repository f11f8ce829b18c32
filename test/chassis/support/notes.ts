// A service with a contract of its own, notes.yaml: for tests of what is the same in every service.
import { afterEach, expect } from '@jest/globals'
import type { Reply } from '../../../src/chassis/contract/reply.ts'
import {
  HttpError,
  loadContract,
  type Client,
  type Guard,
  type Handlers,
  type Parts,
} from '../../../src/chassis/index.ts'
import * as app from './app.ts'
import { checked, readContract } from './contract.ts'
import { BEARER, post, postHead } from './requests.ts'

const FILE = new URL('notes.yaml', import.meta.url)
const { expectContract } = checked(readContract(FILE))

export interface Note {
  text: string
  tag: string
}
type Handler = (input: Input, client: Client<string>) => Reply | Promise<Reply>
interface Input {
  path: { id?: string }
  body: Partial<Note>
}
type Operation = 'listNotes' | 'addNote' | 'readNote' | 'changeNote' | 'removeNote'

export const readNotesContract = (file = FILE) => loadContract<Record<Operation, unknown>>(file)
export const notesContract = readNotesContract()

export const NO_NOTE = new HttpError(404, 'path_not_found', 'no note')
/** The note, which is not kept. */
export const added = ({ body }: Pick<Input, 'body'>) => ({
  status: 201,
  headers: { 'X-Kind': 'note' },
  body: { text: '', tag: '', ...body },
})

const HANDLERS: Record<Operation, Handler> = {
  listNotes: () => ({ status: 200, body: [] }),
  addNote: added,
  readNote({ path: { id } }) {
    if (id !== '1') throw NO_NOTE
    return { ...added({ body: {} }), status: 200 }
  },
  changeNote: (input) => ({ ...added(input), status: 200 }),
  removeNote: () => ({ status: 204 }),
}

/** Lets everybody pass. */
export const identifyAll: Guard<string> = (ctx, next) => {
  ctx.req.identify('somebody')
  return next()
}

type Options = app.Options &
  Partial<Pick<Parts<unknown, string>, 'guard' | 'toHttpError'>> & {
    contract?: typeof notesContract
  }

const open = new Set<(timeoutMs: number) => Promise<unknown>>()
afterEach(() => Promise.all(Array.from(open, (close) => close(0))))

/** A service of notes that runs, until `close` or the end of the test. */
export async function startNotes(...options: Parameters<typeof start>) {
  const service = await start(...options)
  const close = (timeoutMs?: number) => {
    open.delete(close)
    return service.close(timeoutMs)
  }
  open.add(close)
  return { ...service, close }
}

function start(own: Partial<typeof HANDLERS> = {}, options: Options = {}) {
  const { contract = notesContract, guard = identifyAll, toHttpError, ...more } = options
  const handlers = { ...HANDLERS, ...own } as unknown as Handlers<
    Record<Operation, unknown>,
    string
  >
  const parts = { guard, handlers, ...(toHttpError && { toHttpError }) }
  return app.startApp(contract, parts, { expectContract, authorization: BEARER }, more)
}

/** Starts one service of notes for the tests of a suite. */
export const useNotes = (handlers?: Partial<typeof HANDLERS>, options?: Options) =>
  app.useStarted(() => start(handlers, options))

export const addNoteHead = (headers: string) => postHead(headers, '/notes')
export const addNote = (body: string | Partial<Note>, headers = '') =>
  post(typeof body === 'string' ? body : JSON.stringify(body), headers, '/notes')

/** The responses in `text`, each checked against its contract: a 201 is one of POST /notes, others are of `request`. */
export const responsesIn = (text: string, request = '') =>
  app.parseResponses(text).map((response) => {
    const [method = '', path = ''] = (response.status === 201 ? 'POST /notes' : request).split(' ')
    return { ...response, json: expectContract(method, path, response) as { message?: string } }
  })
export const statusesIn = (text: string, request?: string) =>
  responsesIn(text, request).map(({ status }) => status)

/** What a client of notes does that means no harm; each response is what it should be. */
export async function useNoteService(port: number): Promise<void> {
  const json = { text: 'x', tag: '' }
  const send = (line: string, request?: app.Request) =>
    app.send({ expectContract }, port, line, request)
  expect(await send('POST /notes', { json })).toMatchObject({ status: 201, json })
  expect((await send('GET /nothing')).status).toBe(404)
}
