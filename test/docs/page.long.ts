// The page at /docs in a real browser: it works at the first click, for everybody, and asks no other origin.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import axe from 'axe-core'
import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { CHROMIUM } from '../support/chromium.ts'
import { useService } from '../support/service.ts'
import { sqlitePlace, usersIn, useStore } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 375, height: 812 }
const ADA = 'ada@example.com'

/** In the browser: the elements that do not fit. */
const TOO_WIDE = `[document, document.querySelector('openapi-explorer').shadowRoot]
  .flatMap((root) => [...root.querySelectorAll('*')])
  .filter((element) => element.getBoundingClientRect().right > innerWidth)
  .map((element) => 'too wide: ' + element.outerHTML.slice(0, 80))`

const describeBrowser = existsSync(CHROMIUM) ? describe : describe.skip

describeBrowser('the page', () => {
  const store = useStore(sqlitePlace)
  const service = useService(store)
  const withBasePath = useService(store, undefined, '/api')
  const problems: string[] = []
  const requests: string[] = []
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM })
    await store().create(newUser({ email: ADA }))
  })
  afterAll(() => browser.close())

  // Such as violations of the Content-Security-Policy.
  afterEach(async () => {
    await page.close()
    requests.length = 0
    expect(problems.splice(0)).toEqual([])
  })

  async function visit(options: BrowserContextOptions = {}, url = `${service().port}/docs`) {
    page = await browser.newPage({ viewport: DESKTOP, ...options })
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (line) => {
      const refused = /responded with a status of 4/.test(line.text()) // the tests cause these
      if (['error', 'warning'].includes(line.type()) && !refused) problems.push(line.text())
    })
    page.on('request', (request) => {
      const { hostname, pathname, protocol, search } = new URL(request.url())
      if (hostname !== '127.0.0.1' && protocol !== 'data:') problems.push(request.url())
      if (/users|login/.test(pathname)) requests.push(`${request.method()} ${pathname}${search}`)
    })
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Animation.enable')
    await devtools.send('Animation.setPlaybackRate', { playbackRate: 1_000 }) // axe sees no colour on its way
    await page.goto(`http://127.0.0.1:${url}`)
    await page.locator('button:enabled', { hasText: 'Log in' }).waitFor()
  }

  /** Logs in without a click. @returns what the page then says */
  async function logIn(email = ADA): Promise<string> {
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(email)
    await page.keyboard.press('Enter')
    return page.getByRole('status').filter({ hasText: /./ }).innerText()
  }

  /** Chooses a control with a click, or with the keyboard alone. */
  async function choose(text: string, device = 'pointer'): Promise<void> {
    const control = page.locator('button, summary, nav [role=link]').filter({ hasText: text })
    if (device === 'pointer') return control.click()
    const focused = control.and(page.locator(':focus'))
    for (let tabs = 0; tabs < 50 && (await focused.count()) === 0; tabs += 1)
      await page.keyboard.press('Tab')
    await focused.press('Enter')
  }

  /** Sends the request of the operation that is open. @returns the body of the response */
  async function execute(device?: string): Promise<string> {
    await choose('Execute', device)
    const body = page.locator('api-request syntax-highlighter[mime-type] pre')
    return body.filter({ hasText: /\w/ }).innerText()
  }

  async function findProblems(): Promise<void> {
    await page.evaluate(axe.source)
    const violations = await page.evaluate(async () => {
      const { violations } = await axe.run({ preload: false }) // it preloads inline styles
      return violations.map(({ id, nodes }) => `${id} at ${nodes[0]!.target.join(' ')}`)
    })
    problems.push(...violations, ...(await page.evaluate<string[]>(TOO_WIDE)))
  }

  test.each([
    ['desktop', 'light', 'keyboard', DESKTOP],
    ['phone', 'dark', 'pointer', PHONE],
  ] as const)(
    'on a %s, %s, by the %s: the first click logs in, lists, creates and reads; axe finds nothing, nothing is too wide',
    async (_, colorScheme, device, viewport) => {
      await visit({ viewport, colorScheme })
      await findProblems()
      expect(await logIn()).toBe('Logged in')
      for (const operation of ['List all users', 'Create a user', 'Read a user']) {
        await choose(operation, device)
        expect(await execute(device)).toContain('"email": "ada')
        await findProblems()
      }
      const created = (await usersIn(store())).at(-1)!
      expect(requests.at(-1)).toBe(`GET /users/${created.id}`)
    },
  )

  test('says why a log-in is refused, and then sends no token', async () => {
    await visit()
    expect(await logIn('nobody@example.com')).toBe('no user has this email')
    await choose('List all users')
    expect(await execute()).toContain('a valid bearer token is required')
  })

  test('works below a base path, and lists 100 users', async () => {
    await visit({}, `${withBasePath().port}/api/docs`)
    await logIn()
    await choose('List all users')
    expect(await execute()).toContain(ADA)
    expect(requests).toEqual(['POST /api/login', 'GET /api/users?limit=100'])
  })
})
