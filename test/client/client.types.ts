// The types of the client's errors. Checked by `npm run check`.
import type { ErrorMessage, UsersClient } from '../../src/client/client.ts'

type Code = NonNullable<ErrorMessage['code']>

'email_taken' satisfies Extract<Code, 'email_taken'> // an editor proposes the codes of today

'a_later_code' satisfies Code // a program can handle those of later versions

// @ts-expect-error a code is a text
7 satisfies Code

export const isTaken = async (users: UsersClient, body: { name: string; email: string }) =>
  (await users.POST('/users', { body })).error?.code === 'email_taken'
