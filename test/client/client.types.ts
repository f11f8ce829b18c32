// What a caller writes with an error of the client. Checked by `npm run check`.
import type { ErrorMessage, UsersClient } from '../../src/client/client.ts'
import type { components } from '../../src/openapi.ts'

/** @returns whether the email is taken */
export async function report(users: UsersClient, log: (text: string) => void): Promise<boolean> {
  const { error } = await users.GET('/users')
  if (!error) return false
  const message: ErrorMessage = error
  log(message.code ?? message.message)
  log(error.code ?? '')
  if (error.code?.startsWith('email')) log(error.message)
  return error.code === 'email_taken'
}

/** What an editor completes in what a call of `GET` and of `request` resolves to. */
type Code = Awaited<ReturnType<UsersClient['GET' | 'request']>>['error']
'email_taken' satisfies Extract<NonNullable<Code>['code'], 'email_taken'>
'code_of_later' satisfies NonNullable<Code>['code']

/** What does not compile. */
export function misuse(users: UsersClient, id: string) {
  // @ts-expect-error no such path
  void users.GET('/user')
  // @ts-expect-error no such method of this path
  void users.PUT('/users', {})
  // @ts-expect-error no body
  void users.PUT('/users/{id}', { params: { path: { id } } })
  // @ts-expect-error no parameters
  void users.request('delete', '/users/{id}')

  const path = { id }
  const header = { 'If-Match': '"x"' }
  void users.DELETE('/users/{id}', {
    params: { path, header },
    headers: { x: 'y' },
    cache: 'no-store',
  })
  // @ts-expect-error the condition would not be sent
  void users.DELETE('/users/{id}', { params: { path }, header })
  // @ts-expect-error nor this id
  void users.DELETE('/users/{id}', { params: { path }, path })
  // @ts-expect-error nor this condition
  void users.DELETE('/users/{id}', { params: { path, headers: header } })
  // @ts-expect-error all users would come
  void users.GET('/users', { query: { email: 'ada@example.com' } })
  // @ts-expect-error nor here
  void users.GET('/users', { email: 'ada@example.com' })
  // @ts-expect-error nor this condition
  void users.DELETE('/users/{id}', { params: { path }, 'If-Match': '"x"' })
  // @ts-expect-error there is no such option: `signal` takes AbortSignal.timeout()
  void users.GET('/users', { timeout: 5_000 })
}

// @ts-expect-error a code is a text
7 satisfies ErrorMessage['code']

// @ts-expect-error a request with misspelt fields
;({ nmae: 'Ada', emial: 'ada@example.com' }) satisfies components['schemas']['UserFields']
