// The contract for its readers: the documents over HTTP, and the page in a real browser.
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { parse } from 'yaml'
import { contractOperations, operationOf, type OperationId } from '../../src/contract/document.ts'
import { CHROMIUM } from '../support/chromium.ts'
import { parseAnswers, startService, useService } from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const store = useStore(sqlitePlace)
const service = useService(store)
const url = (path: string) => `http://127.0.0.1:${service().port}${path}`

const TYPES: [string, string][] = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.css', 'text/css; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['/docs/favicon-32x32.png', 'image/png'],
  ['/openapi.yaml', 'application/yaml'],
  ['/openapi.json', 'application/json; charset=utf-8'],
]
const PATHS = TYPES.map(([path]) => path)

describe('the contract over HTTP', () => {
  const file = readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8')

  test('/openapi.yaml is the file', async () => {
    expect(await (await fetch(url('/openapi.yaml'))).text()).toBe(file)
  })

  test('/openapi.json is the same document', async () => {
    expect(await (await fetch(url('/openapi.json'))).json()).toEqual(parse(file))
  })

  test.each(TYPES)(
    '%s is %s, with a policy that allows only its own scripts',
    async (path, type) => {
      const { status, headers } = await fetch(url(path))
      expect([status, headers.get('content-type')]).toEqual([200, type])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
    },
  )

  test.each(PATHS)('%s returns 304 when If-None-Match matches', async (path) => {
    const etag = (await fetch(url(path))).headers.get('etag')!
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIf-None-Match: ${etag}`
    const again = parseAnswers(await service().exchange(`${head}\r\n\r\n`))
    expect(again).toMatchObject([{ status: 304, text: '' }])
  })

  test.each(PATHS)('%s accepts HEAD and GET, and no other method', async (path) => {
    const head = await fetch(url(path), { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await fetch(url(path), { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'HEAD, GET'])
    expect(await post.json()).toEqual({ message: 'the method POST is not allowed on this path' })
  })

  test.each(['/docs/', '/docs/index.html', '/docs/..%2fpackage.json', '/DOCS', '/openapi.yml'])(
    '%s is 404',
    async (path) => expect((await service().send(`GET ${path}`)).status).toBe(404),
  )

  test('all paths are 404 when DOCS is false', async () => {
    const without = await startService(store(), { docs: false })
    for (const path of PATHS) expect((await without.send(`GET ${path}`)).status).toBe(404)
    await without.close()
  })
})

declare const ui: { specSelectors: { specResolvedSubtree(path: string[]): unknown } }

const describeBrowser = existsSync(CHROMIUM) ? describe : describe.skip

describeBrowser('the page', () => {
  const SCREENSHOT = fileURLToPath(new URL('../../dist/docs-page.png', import.meta.url))
  const complaints: string[] = []
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    await store().create(newUser({ email: 'ada@example.com' }))
    browser = await chromium.launch({ executablePath: CHROMIUM })
    page = await browser.newPage({ viewport: { width: 1280, height: 1600 } })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (line) => {
      const refused = /responded with a status of 4/.test(line.text()) // the tests cause these
      if (['error', 'warning'].includes(line.type()) && !refused) complaints.push(line.text())
    })
    page.on('request', (request) => {
      const here = /^(http:\/\/127\.0\.0\.1:|data:)/.test(request.url())
      if (!here) complaints.push(`a request to ${request.url()}`)
    })
    await page.goto(url('/docs'))
    await page.locator('.opblock').first().waitFor()
  })
  afterAll(async () => {
    await browser.close()
    expect(complaints).toEqual([]) // such as violations of the Content-Security-Policy
  })

  const said = () => page.getByRole('status')

  /** Logs in with the form at the top. @returns the message of the page */
  async function logIn(email: string): Promise<string> {
    await page.getByLabel('Email').fill(email)
    const before = await said().innerText()
    await page.getByRole('button', { name: 'Log in' }).click()
    await said().filter({ hasNotText: before }).waitFor()
    return said().innerText()
  }

  /**
   * Opens an operation, fills it in and executes it; with the keyboard, because a click waits for the
   * page to stand still. @returns the response as the page shows it
   */
  async function execute(
    operation: OperationId,
    { id, body }: { id?: string; body?: object } = {},
  ) {
    const block = page.locator(`[id$="-${operation}"]`)
    const press = (name: string) => block.getByRole('button', { name, exact: true }).press('Enter')
    if (await block.locator('.live-responses-table').isVisible()) await press('Clear')
    else await block.locator('.opblock-summary-control').press('Enter')
    await page.waitForFunction(isResolved, operationOf(operation))
    if (id) await block.getByPlaceholder('id').fill(id)
    if (body) await block.locator('textarea.body-param__text').fill(JSON.stringify(body))
    await press('Execute')
    const answer = block.locator('.live-responses-table .response')
    const status = Number(await answer.locator('.response-col_status').innerText())
    const shown = await answer.locator('.response-col_description').innerText()
    return { status, shown }
  }

  /** Whether Swagger UI, in the browser, knows the operation with what it refers to; until then it cannot execute it. */
  function isResolved({ path, method }: { path: string; method: string }): boolean {
    return Boolean(ui.specSelectors.specResolvedSubtree(['paths', path, method]))
  }

  test('shows every operation', async () => {
    await expect(page.locator('.opblock').count()).resolves.toBe(contractOperations.length)
  })

  test('logs in, and sends the token with every operation', async () => {
    expect(await logIn('ada@example.com')).toBe('Logged in as ada@example.com')

    const grace = newUser()
    expect((await execute('createUser', { body: grace })).status).toBe(201)
    const { id } = (await store().findByEmail(grace.email))!
    const shown = expect.stringContaining(grace.email)
    expect(await execute('listUsers')).toEqual({ status: 200, shown })
    expect(await execute('readUser', { id })).toEqual({ status: 200, shown })
    expect((await execute('renameUser', { id, body: { name: 'Grace Hopper' } })).status).toBe(204)
    expect(await store().find(id)).toMatchObject({ name: 'Grace Hopper' })
    expect((await execute('deleteUser', { id })).status).toBe(204)
    expect((await execute('login', { body: { email: 'ada@example.com' } })).status).toBe(200)
  })

  test('shows the message of a 400', async () => {
    const { status, shown } = await execute('createUser', { body: { email: 'ada@example.com' } })
    expect(status).toBe(400)
    expect(shown).toContain('a user with email `ada@example.com` already exists')
    await page.screenshot({ path: SCREENSHOT }) // for people to look at
  })

  test('says that the token has expired', async () => {
    const now = Date.now
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 2 * 86_400_000)
    expect((await execute('listUsers')).status).toBe(401)
    clock.mockRestore()
    expect(await said().innerText()).toBe('The token is no longer valid. Log in again.')
  })

  test('says why a log-in is refused, and forgets the token of an earlier one', async () => {
    expect(await logIn('nobody@example.com')).toBe('no user has this email')
    expect((await execute('listUsers')).status).toBe(401)
  })

  test('works behind a proxy that adds a path prefix', async () => {
    const proxy = http.createServer((request, response) => {
      const path = request.url!.slice('/api'.length) // which leaves no path of a URL without it
      const { method, headers } = request
      const outgoing = http.request({ port: service().port, path, method, headers }, (incoming) => {
        response.writeHead(incoming.statusCode!, incoming.headers)
        incoming.pipe(response)
      })
      request.pipe(outgoing)
    })
    await once(proxy.listen(0, '127.0.0.1').unref(), 'listening')
    await page.goto(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/api/docs`)
    expect(await logIn('ada@example.com')).toBe('Logged in as ada@example.com')
    expect((await execute('listUsers')).status).toBe(200)
  })
})
