// The contract for its readers: the documents over HTTP, and the page in a real browser.
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import axeCore from 'axe-core'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { parse } from 'yaml'
import { contractOperations, type OperationId } from '../../src/contract/document.ts'
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
  ['/docs/openapi-explorer.js', 'text/javascript; charset=utf-8'],
  ['/openapi.yaml', 'application/yaml'],
  ['/openapi.json', 'application/json; charset=utf-8'],
]
const PATHS = TYPES.map(([path]) => path)

const FILE = readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8')
const DOCUMENT = parse(FILE)

describe('the contract over HTTP', () => {
  test('/openapi.yaml is the file', async () => {
    expect(await (await fetch(url('/openapi.yaml'))).text()).toBe(FILE)
  })

  test('/openapi.json is the same document', async () => {
    expect(await (await fetch(url('/openapi.json'))).json()).toEqual(DOCUMENT)
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

declare const axe: {
  run(options: object): Promise<{ violations: { id: string; nodes: { target: unknown }[] }[] }>
}

const SCREENSHOTS = fileURLToPath(new URL('../../dist/screenshots', import.meta.url))
const INSIDE = `document.querySelector('openapi-explorer').shadowRoot`
/** In the browser: the elements with content that does not fit. */
const TOO_WIDE = `[document.documentElement, ...${INSIDE}.querySelectorAll('*')]
  .filter(({ clientWidth, scrollWidth }) => clientWidth > 1 && scrollWidth > clientWidth + 1)
  .filter((element) => !element.matches('input, textarea'))
  .filter((element) => element.matches('html') || getComputedStyle(element).overflowX !== 'visible')
  .map(({ outerHTML }) => outerHTML.slice(0, 80))`

const SIZES: [string, { width: number; height: number }][] = [
  ['a desktop', { width: 1280, height: 800 }],
  ['a phone', { width: 390, height: 844 }],
]
const SCHEMES = ['light', 'dark'] as const
const ADA = 'ada@example.com'
const SUMMARY = Object.fromEntries(
  contractOperations.map(({ id, path, method }) => [id, DOCUMENT.paths[path][method].summary]),
) as Record<OperationId, string>

/** @param color such as `rgb(255, 255, 255)`, which is 765 */
const lightness = (color: string) =>
  color.match(/\d+/g)!.reduce((sum, part) => sum + Number(part), 0)

const describeBrowser = existsSync(CHROMIUM) ? describe : describe.skip

describeBrowser.each(SIZES)('the page on %s', (device, viewport) => {
  const complaints: string[] = []
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM })
  })
  afterAll(async () => {
    await browser.close()
    expect(complaints).toEqual([]) // such as violations of the Content-Security-Policy
  })

  beforeEach(async () => {
    if (!(await store().findByEmail(ADA))) await store().create(newUser({ email: ADA }))
    page = await browser.newPage({ viewport })
    page.setDefaultTimeout(10_000)
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
  })
  afterEach(() => page.close())

  const said = () => page.getByRole('banner').getByRole('status')
  const button = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}$`, 'i') })
  const entries = () => page.locator('nav .nav-bar-path[id^="link-"]:not([id*="cmp--"])')
  const body = () => page.getByRole('textbox', { name: 'Request Body' })

  /** Logs in with the form at the top. @returns the message of the page */
  async function logIn(email = ADA): Promise<string> {
    await page.getByLabel('Email').fill(email)
    await button('Log in').click()
    return said().filter({ hasText: /./ }).innerText()
  }

  /** Chooses an operation in the menu, and waits until the page has moved there. */
  async function open(operation: OperationId): Promise<void> {
    if (device === 'a phone') await button('Menu').click()
    const entry = entries().filter({ hasText: SUMMARY[operation] })
    await entry.click()
    await entry.and(page.locator('.active')).waitFor({ state: 'attached' })
  }

  /** Executes the operation that is open. @returns the response as the page shows it */
  async function execute() {
    const response = page.waitForResponse((answer) => !answer.url().includes('docs'))
    await button('Execute').click()
    const status = (await response).status()
    await page.locator('.response-message', { hasText: `(${status})` }).waitFor()
    const shown = page.locator('api-request syntax-highlighter[mime-type]')
    return { status, shown: await shown.filter({ hasNotText: '⌛' }).locator('pre').innerText() }
  }

  /** Opens an operation and executes it. */
  async function first(operation: OperationId) {
    await open(operation)
    return execute()
  }

  test('shows every operation, and finds one by a word', async () => {
    await button('Log in').waitFor()
    if (device === 'a phone') await button('Menu').click()
    expect(await entries().allInnerTexts()).toEqual(Object.values(SUMMARY))
    await page.getByPlaceholder('Filter').fill('rename')
    await entries().filter({ hasText: SUMMARY.listUsers }).waitFor({ state: 'detached' })
    expect(await entries().allInnerTexts()).toEqual([SUMMARY.renameUser])
  })

  test('the example of every operation succeeds at the first click', async () => {
    await logIn()
    const statuses = []
    for (const { id } of contractOperations) statuses.push((await first(id)).status)
    expect(statuses).toEqual([200, 201, 200, 204, 204, 200])
  })

  test('the examples succeed at the second click too', async () => {
    await logIn()
    await open('createUser')
    const email = await body().inputValue()
    expect(await execute()).toMatchObject({ status: 201, shown: expect.stringContaining('ada-') })
    for (let next = email; next === email;) next = await body().inputValue()
    expect((await execute()).status).toBe(201)
    expect((await first('deleteUser')).status).toBe(204)
    expect((await first('deleteUser')).status).toBe(204)
    expect(await first('readUser')).toMatchObject({
      status: 200,
      shown: expect.stringContaining(ADA),
    })
  })

  test('what is typed in is sent', async () => {
    await logIn()
    const grace = newUser()
    await open('createUser')
    await body().fill(JSON.stringify(grace))
    expect((await execute()).status).toBe(201)
    expect(await store().findByEmail(grace.email)).toMatchObject(grace)
    await open('renameUser')
    await body().fill('{ "name": "Grace Hopper" }')
    expect((await execute()).status).toBe(204)
    expect(await store().findByEmail(grace.email)).toMatchObject({ name: 'Grace Hopper' })
  })

  test('the log-in stays in sight, and survives a reload', async () => {
    expect(await logIn()).toBe(`Logged in as ${ADA}`)
    await first('listUsers')
    await page.evaluate(`${INSIDE}.querySelector('main').scrollTo(0, 1e6)`)
    for (const part of [said(), button('Log out')]) {
      const { x, y, width, height } = (await part.boundingBox())!
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(viewport.width)
      expect(y + height).toBeLessThanOrEqual(viewport.height)
    }
    await page.reload()
    await said().filter({ hasText: ADA }).waitFor()
    expect((await first('listUsers')).status).toBe(200)
  })

  test('the log-in can be undone, for good', async () => {
    await logIn()
    await button('Log out').click()
    expect((await first('listUsers')).status).toBe(401)
    await page.reload()
    await button('Log in').waitFor()
    expect((await first('listUsers')).status).toBe(401)
  })

  test('says why a log-in is refused', async () => {
    expect(await logIn('nobody@example.com')).toBe('no user has this email')
    expect((await first('listUsers')).status).toBe(401)
  })

  test('says that the token has expired', async () => {
    await logIn()
    const now = Date.now
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 2 * 86_400_000)
    expect((await first('listUsers')).status).toBe(401)
    clock.mockRestore()
    await said().filter({ hasText: 'The token is no longer valid. Log in again.' }).waitFor()
    await button('Log in').waitFor()
  })

  test('shows the message of a 400', async () => {
    await logIn()
    await open('createUser')
    await body().fill(JSON.stringify({ email: ADA }))
    const { status, shown } = await execute()
    expect(status).toBe(400)
    expect(shown).toContain(`a user with email \`${ADA}\` already exists`)
  })

  test('shows NDJSON as text', async () => {
    await logIn()
    await open('listUsers')
    await page.locator('[data-pname="Accept"]').selectOption('application/x-ndjson')
    const { status, shown } = await execute()
    const lines = shown.trim().split('\n')
    expect(status).toBe(200)
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(await store().findByEmail(ADA))
  })

  test('is dark when the system is', async () => {
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      for (const part of ['header', 'openapi-explorer']) {
        const style = `getComputedStyle(document.querySelector('${part}'))`
        const text = lightness(await page.evaluate(`${style}.color`))
        const background = lightness(await page.evaluate(`${style}.backgroundColor`))
        expect(colorScheme === 'dark' ? text - background : background - text).toBeGreaterThan(400)
      }
    }
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
    expect(await logIn()).toBe(`Logged in as ${ADA}`)
    expect((await first('listUsers')).status).toBe(200)
  })

  /** The kinds of view: the start, operations with their responses, models, the menu, the search. */
  async function eachView(check: (view: string) => Promise<void>): Promise<void> {
    await logIn()
    await check('start')
    for (const operation of ['createUser', 'readUser', 'listUsers'] as const) {
      await first(operation)
      await check(operation)
    }
    for (const tab of await page.getByRole('button', { name: 'Model' }).all()) await tab.click()
    await check('models')
    if (device === 'a phone') await button('Menu').click()
    await check('menu')
    await button('Search').click()
    await page.getByRole('dialog').waitFor()
    await check('search')
  }

  test('nothing is wider than the screen', async () => {
    const wide: string[] = []
    await eachView(async (view) => {
      const found = await page.evaluate<string[]>(TOO_WIDE)
      wide.push(...found.map((element) => `${view}: ${element}`))
    })
    expect(wide).toEqual([])
  })

  test('axe finds nothing, when it is light and when it is dark', async () => {
    await page.evaluate(axeCore.source)
    const found: unknown[] = []
    await eachView(async (view) => {
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme })
        const { violations } = await page.evaluate(() => axe.run({ preload: false })) // it preloads inline styles
        for (const { id, nodes } of violations) {
          found.push([view, colorScheme, id, nodes.map(({ target }) => target)])
        }
        const name = `docs-${viewport.width}-${colorScheme}-${view}.png`
        await page.screenshot({ path: join(SCREENSHOTS, name) }) // for people to look at
      }
    })
    expect(found).toEqual([])
  })
})
