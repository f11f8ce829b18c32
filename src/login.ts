// The operation under /login: issues a token for the user with an email.
import { CALLER } from './auth/guard.ts'
import type { Tokens } from './chassis/index.ts'
import type { Handlers } from './contract.ts'
import { UNKNOWN_EMAIL } from './errors.ts'
import type { UserStore } from './store/user-store.ts'

export function login(store: UserStore, tokens: Tokens): Pick<Handlers, 'login'> {
  return {
    async login({ body: { email } }, client) {
      const user = await store.findByEmail(email, client)
      if (!user) throw UNKNOWN_EMAIL
      client.log[CALLER] = user.id
      return { status: 200, body: { token: tokens.issue(user.id) } }
    },
  }
}
