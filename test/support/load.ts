// Clients that write without a pause, and a check that nothing that was acknowledged is lost.
import { setTimeout as sleep } from 'node:timers/promises'
import type { User } from '../../src/store/user-store.ts'
import { expectContract } from './service.ts'
import { tokens } from '../chassis/support/requests.ts'
import { newUser } from './users.ts'

/** What is known of a user: the names it can have, of which one was acknowledged; whether it was deleted. */
interface Known {
  names: string[]
  deleted: boolean | 'maybe'
}

/** The status of a response; `none` if it did not arrive whole. */
type Outcome = number | 'none'

export class Load {
  /** How often each outcome occurred. */
  readonly outcomes = new Map<Outcome, number>()
  readonly #url: () => string
  readonly #name: string
  readonly #users = new Map<string, Known>()
  readonly #unsure = new Set<string>() // emails of users that may have been created
  readonly #clients: Promise<void>[] = []
  #isOver = false
  #count = 0

  /**
   * @param url the address of the service
   * @param name the beginning of its emails
   */
  constructor(url: () => string, name: string) {
    this.#url = url
    this.#name = name
  }

  start(writers: number): void {
    this.#isOver = false
    for (let i = 0; i < writers; i += 1) this.#clients.push(this.#write())
  }

  /** Sends no more requests, and waits for the responses. */
  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients.splice(0))
  }

  count = (outcome: Outcome): number => this.outcomes.get(outcome) ?? 0

  /** Waits until an outcome has occurred twenty times more. */
  async more(outcome: Outcome): Promise<void> {
    const before = this.count(outcome)
    while (this.count(outcome) < before + 20) await sleep(5)
  }

  /** How `users`, all that there are, contradict what was acknowledged. */
  contradictedBy(users: User[]): string[] {
    const faults: string[] = []
    const found = new Map(users.map((user) => [user.id, user]))
    if (found.size < users.length) faults.push('a user is there twice')
    for (const [id, { names, deleted }] of this.#users) {
      const user = found.get(id)
      found.delete(id)
      if (!user && deleted === false) faults.push(`${id} is lost`)
      if (user && deleted === true) faults.push(`${id} is back`)
      if (user && !names.includes(user.name)) faults.push(`${id} has the name ${user.name}`)
    }
    for (const { id, name, email } of found.values()) {
      if (!this.#unsure.delete(email)) faults.push(`${email} is there, and was not requested`)
      this.#users.set(id, { names: [name], deleted: false }) // from now on it must stay
    }
    return faults
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const email = `${this.#name}-${(this.#count += 1)}@example.com`
      this.#unsure.add(email)
      const body = newUser({ name: 'first', email })
      const { outcome, text } = await this.#ask('POST', '/users', body)
      if (outcome === 'none') await sleep(5)
      if (outcome !== 201) continue
      this.#unsure.delete(email)
      const { id } = JSON.parse(text) as User
      const user: Known = { names: ['first'], deleted: false }
      this.#users.set(id, user)
      if (this.#count % 2 === 0) await this.#rename(id, user)
      if (this.#count % 3 === 0) await this.#remove(id, user)
    }
  }

  async #rename(id: string, user: Known): Promise<void> {
    user.names.push('second')
    const { outcome } = await this.#ask('PUT', `/users/${id}`, { name: 'second' })
    if (outcome === 204) user.names.shift()
  }

  async #remove(id: string, user: Known): Promise<void> {
    user.deleted = 'maybe'
    const { outcome } = await this.#ask('DELETE', `/users/${id}`)
    if (outcome === 204) user.deleted = true
  }

  async #ask(method: string, path: string, json?: object) {
    const headers = { ...HEADERS, ...(json && { 'content-type': 'application/json' }) }
    const body = json ? JSON.stringify(json) : null
    const whole = async (response: Response) => {
      const headers = Object.fromEntries(response.headers)
      return { status: response.status, headers, text: await response.text() }
    }
    const received = await fetch(this.#url() + path, { method, headers, body })
      .then(whole)
      .catch(() => {})
    if (received) expectContract(method, path, received)
    const outcome: Outcome = received?.status ?? 'none'
    this.outcomes.set(outcome, this.count(outcome) + 1)
    return { outcome, text: received?.text ?? '' }
  }
}

const HEADERS = { authorization: `Bearer ${tokens.issue('x')}` }
