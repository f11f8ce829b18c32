// The page at /docs in a real browser. One tab serves all tests: each starts logged out, on a fresh load.
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
import axe from 'axe-core'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Browser, type Page, type ViewportSize } from 'playwright-core'
import { parse } from 'yaml'
import { contractOperations, type OperationId } from '../../src/contract/document.ts'
import { CHROMIUM } from '../support/chromium.ts'
import { useService } from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const INSIDE = `document.querySelector('openapi-explorer').shadowRoot`
/** In the browser: the elements with content that does not fit. */
const TOO_WIDE = `[document.documentElement, ...${INSIDE}.querySelectorAll('*')]
  .filter(({ clientWidth, scrollWidth }) => clientWidth > 1 && scrollWidth > clientWidth + 1)
  .filter((element) => !element.matches('input, textarea'))
  .filter((element) => element.matches('html') || getComputedStyle(element).overflowX !== 'visible')
  .map(({ outerHTML }) => 'too wide: ' + outerHTML.slice(0, 80))`

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
const SCHEMES = ['light', 'dark'] as const
const ADA = 'ada@example.com'
const NO_USER = 'No user has this email. The program create-user creates the first user.'
const DOCUMENT = parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'))
const SUMMARY = Object.fromEntries(
  contractOperations.map(({ id, path, method }) => [id, DOCUMENT.paths[path][method].summary]),
) as Record<OperationId, string>

/** @param color such as `rgb(255, 255, 255)`, which is 765 */
const lightness = (color: string) =>
  color.match(/\d+/g)!.reduce((sum, part) => sum + Number(part), 0)

const describeBrowser = existsSync(CHROMIUM) ? describe : describe.skip

describeBrowser('the page', () => {
  const store = useStore(sqlitePlace)
  const service = useService(store)
  const complaints: string[] = []
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM })
    page = await browser.newPage()
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
    await visit(SIZES.desktop)
  })
  afterAll(() => browser.close())

  beforeEach(async () => {
    if (!(await store().findByEmail(ADA))) await store().create(newUser({ email: ADA }))
    await page.evaluate('sessionStorage.clear()')
  })
  afterEach(() => {
    jest.restoreAllMocks()
    expect(complaints.splice(0)).toEqual([]) // such as violations of the Content-Security-Policy
  })

  const said = () => page.getByRole('banner').getByRole('status')
  const button = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}$`, 'i') })
  const entries = () => page.locator('nav .nav-bar-path[id^="link-"]')
  const body = () => page.getByRole('textbox', { name: 'Request Body' })

  async function visit(viewport: ViewportSize, port = service().port, prefix = ''): Promise<void> {
    await page.setViewportSize(viewport)
    await page.goto(`http://127.0.0.1:${port}${prefix}/docs`)
  }

  /** Logs in with the form at the top. @returns the message of the page */
  async function logIn(email = ADA): Promise<string> {
    await page.getByLabel('Email').fill(email)
    await button('Log in').click()
    return said().filter({ hasText: /./ }).innerText()
  }

  /** On a phone, the menu is closed at first. */
  async function openMenu(): Promise<void> {
    if (await button('Menu').isVisible()) await button('Menu').click()
  }

  /** Chooses an operation in the menu, and waits until the page has moved there. */
  async function open(operation: OperationId): Promise<void> {
    await openMenu()
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

  /** Goes through the kinds of view: the start, operations with responses, models, the menu, the search. */
  async function* views(): AsyncGenerator<string> {
    await button('Log in').waitFor()
    yield 'logged out'
    await logIn()
    for (const operation of ['createUser', 'listUsers'] as const) {
      await first(operation)
      yield operation
    }
    for (const tab of await page.getByRole('button', { name: 'Model' }).all()) await tab.click()
    yield 'models'
    await openMenu()
    yield 'menu'
    await button('Search').click()
    await page.getByRole('dialog').waitFor()
    yield 'search'
  }

  /**
   * Runs axe: all its rules in light, those about colours in dark. Only what is wrong leaves the browser,
   * because everything that axe checked takes a second to transfer.
   */
  async function violations(colorScheme: 'light' | 'dark'): Promise<string[]> {
    await page.emulateMedia({ colorScheme })
    return page.evaluate(
      async (rules) => {
        const { violations } = await axe.run({ ...rules, preload: false }) // it preloads inline styles
        return violations.map(
          ({ id, nodes }) => `${id} at ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
        )
      },
      colorScheme === 'dark' ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {},
    )
  }

  describe.each(Object.entries(SIZES))('on a %s', (_, viewport) => {
    beforeEach(() => visit(viewport))

    test('shows every operation, and finds one by a word', async () => {
      await button('Log in').waitFor()
      await openMenu()
      expect(await entries().allInnerTexts()).toEqual(Object.values(SUMMARY))
      await page.getByPlaceholder('Filter').fill('rename')
      await entries().filter({ hasText: SUMMARY.listUsers }).waitFor({ state: 'detached' })
      expect(await entries().allInnerTexts()).toEqual([SUMMARY.renameUser])
    })

    test('keeps the log-in in sight', async () => {
      expect(await logIn()).toBe(`Logged in as ${ADA}`)
      await first('listUsers')
      await page.evaluate(`${INSIDE}.querySelector('main').scrollTo(0, 1e6)`)
      for (const part of [said(), button('Log out')]) {
        const { x, y, width, height } = (await part.boundingBox())!
        expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
        expect(x + width).toBeLessThanOrEqual(viewport.width)
        expect(y + height).toBeLessThanOrEqual(viewport.height)
      }
    })

    test('is never wider than the screen, and axe finds nothing in light and in dark', async () => {
      const found: string[] = []
      await page.evaluate(axe.source)
      for await (const view of views()) {
        found.push(...(await page.evaluate<string[]>(TOO_WIDE)).map((at) => `${view}: ${at}`))
        for (const colorScheme of SCHEMES) {
          found.push(
            ...(await violations(colorScheme)).map((at) => `${view}, ${colorScheme}: ${at}`),
          )
        }
      }
      expect(found).toEqual([])
    })
  })

  describe('on a screen of any size', () => {
    beforeEach(() => visit(SIZES.desktop))

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

    test('the log-in survives a reload', async () => {
      await logIn()
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
      expect(await logIn('nobody@example.com')).toBe(NO_USER)
      expect((await first('listUsers')).status).toBe(401)
    })

    test('sends every request while logged out, and says what to do', async () => {
      await store().remove((await store().findByEmail(ADA))!.id)
      for (const { id } of contractOperations) {
        expect((await first(id)).status).toBe(401)
        const hint = id === 'login' ? NO_USER : 'Log in first'
        await said().filter({ hasText: hint }).waitFor()
      }
    })

    test('uses another user when the one who is logged in is deleted', async () => {
      await store().create(newUser())
      await logIn()
      await store().remove((await store().findByEmail(ADA))!.id)
      expect((await first('readUser')).status).toBe(404)
      await page.reload()
      await said().filter({ hasText: ADA }).waitFor()
      expect((await first('readUser')).status).toBe(200)
    })

    test('says that the token has expired', async () => {
      await logIn()
      const now = Date.now
      jest.spyOn(Date, 'now').mockImplementation(() => now() + 2 * 86_400_000)
      expect((await first('listUsers')).status).toBe(401)
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
          await page.locator(part).waitFor() // page.js adds the explorer after the page has loaded
          const style = `getComputedStyle(document.querySelector('${part}'))`
          const text = lightness(await page.evaluate(`${style}.color`))
          const background = lightness(await page.evaluate(`${style}.backgroundColor`))
          expect(colorScheme === 'dark' ? text - background : background - text).toBeGreaterThan(
            400,
          )
        }
      }
    })

    test('works behind a proxy that adds a path prefix', async () => {
      const proxy = http.createServer((request, response) => {
        const path = request.url!.slice('/api'.length) // which leaves no path of a URL without it
        const { method, headers } = request
        const outgoing = http.request(
          { port: service().port, path, method, headers },
          (incoming) => {
            response.writeHead(incoming.statusCode!, incoming.headers)
            incoming.pipe(response)
          },
        )
        request.pipe(outgoing)
      })
      await once(proxy.listen(0, '127.0.0.1').unref(), 'listening')
      await visit(SIZES.desktop, (proxy.address() as AddressInfo).port, '/api')
      expect(await logIn()).toBe(`Logged in as ${ADA}`)
      expect((await first('listUsers')).status).toBe(200)
    })
  })
})
