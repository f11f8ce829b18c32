// Clients that write without a pause, and what the service owes them for what it acknowledged.
import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { User } from '../../src/store/user-store.ts'
import { expectContract } from './contract.ts'
import { tokens } from './service.ts'

/** What is known of a user: the names it may have, of which one was acknowledged; whether it may be gone. */
interface Known {
  names: string[]
  gone: boolean | 'maybe'
}

/** What an answer was: its status; `cut` within the answer, `none` if not a byte of it came. */
type Outcome = number | 'cut' | 'none'

export class Load {
  /** How often there was each outcome. */
  readonly outcomes = new Map<Outcome, number>()
  /** What an answer said that an earlier one had denied. */
  readonly contradictions: string[] = []
  /** The longest that a client waited for an answer, in milliseconds. */
  slowest = 0
  readonly #url: () => string
  readonly #name: string
  readonly #agent = new http.Agent({ keepAlive: true })
  readonly #users = new Map<string, Known>()
  readonly #unsure = new Set<string>() // emails of users that may have been created
  readonly #clients: Promise<void>[] = []
  #over = false
  #count = 0

  /**
   * @param url where the service is
   * @param name begins its emails, and no others
   */
  constructor(url: () => string, name: string) {
    this.#url = url
    this.#name = name
  }

  start(writers: number, readers = 0): void {
    this.#over = false
    for (let i = 0; i < writers; i += 1) this.#clients.push(this.#write())
    for (let i = 0; i < readers; i += 1) this.#clients.push(this.#list())
  }

  /** Sends no more, and waits for the answers that are due. */
  async stop(): Promise<void> {
    this.#over = true
    await Promise.all(this.#clients.splice(0))
    this.#agent.destroy()
  }

  count = (outcome: Outcome): number => this.outcomes.get(outcome) ?? 0

  /** In what way `users`, all that there are, break what was acknowledged. */
  broken(users: User[]): string[] {
    const faults = [...this.contradictions]
    const found = new Map(users.map((user) => [user.id, user]))
    if (found.size < users.length) faults.push('a user is there twice')
    for (const [id, { names, gone }] of this.#users) {
      const user = found.get(id)
      found.delete(id)
      if (!user && gone === false) faults.push(`${id} is lost`)
      if (user && gone === true) faults.push(`${id} is back`)
      if (user && !names.includes(user.name)) faults.push(`${id} is called ${user.name}`)
    }
    for (const { id, name, email } of found.values()) {
      if (!this.#unsure.delete(email)) faults.push(`${email} is there, and was not asked for`)
      this.#users.set(id, { names: [name], gone: false }) // and has to stay
    }
    return faults
  }

  async #write(): Promise<void> {
    while (!this.#over) {
      const email = `${this.#name}-${(this.#count += 1)}@example.com`
      this.#unsure.add(email)
      const { outcome, body } = await this.#ask('POST', '/users', { name: 'first', email })
      if (outcome === 'none') await sleep(5)
      if (outcome !== 201) continue
      this.#unsure.delete(email)
      const { id } = JSON.parse(body) as User
      const user: Known = { names: ['first'], gone: false }
      this.#users.set(id, user)
      if (this.#count % 2 === 0) await this.#rename(id, user)
      if (this.#count % 3 === 0) await this.#remove(id, user)
      const read = await this.#ask('GET', `/users/${id}`)
      if (read.outcome === 404 && user.gone === false)
        this.contradictions.push(`${id} is not there`)
      if (read.outcome === 200 && user.gone === true) this.contradictions.push(`${id} is back`)
    }
  }

  async #list(): Promise<void> {
    while (!this.#over) {
      const { outcome } = await this.#ask('GET', '/users')
      if (outcome === 'none') await sleep(5)
    }
  }

  async #rename(id: string, user: Known): Promise<void> {
    user.names.push('second')
    const { outcome } = await this.#ask('PUT', `/users/${id}`, { name: 'second' })
    if (outcome === 204) user.names.shift()
    if (outcome === 404) this.contradictions.push(`${id} is not there`)
  }

  async #remove(id: string, user: Known): Promise<void> {
    user.gone = 'maybe'
    const { outcome } = await this.#ask('DELETE', `/users/${id}`)
    if (outcome === 204) user.gone = true
  }

  async #ask(method: string, path: string, json?: object) {
    const began = performance.now()
    const { outcome, body } = await this.#send(method, path, json)
    this.slowest = Math.max(this.slowest, performance.now() - began)
    this.outcomes.set(outcome, this.count(outcome) + 1)
    return { outcome, body }
  }

  async #send(method: string, path: string, json?: object) {
    let outcome: Outcome = 'none'
    try {
      const headers = { ...HEADERS, ...(json && { 'content-type': 'application/json' }) }
      const request = http.request(this.#url() + path, { method, headers, agent: this.#agent })
      request.end(json && JSON.stringify(json))
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      outcome = 'cut'
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      const status = response.statusCode!
      expectContract(method, path, { status, headers: response.headers, text })
      return { outcome: status, body: text }
    } catch (error) {
      if (!(error as NodeJS.ErrnoException).code) throw error
      return { outcome, body: '' }
    }
  }
}

const HEADERS = { authorization: `Bearer ${tokens.issue('x')}` }
