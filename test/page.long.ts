// The page at /docs in a real browser: it works at the first click, for everybody, and asks no other origin.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import axe from 'axe-core'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  chromium,
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core'
import { CHROMIUM } from './support/chromium.ts'
import { tokens } from './chassis/support/requests.ts'
import { useService } from './support/service.ts'
import { sqlitePlace, usersIn, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const DESKTOP = { width: 1280, height: 800 }
/** A window of 1280 px at 400 %. */
const ZOOMED = { width: 320, height: 640 }
const ADA = 'ada@example.com'

/** In the browser: the elements that do not fit. */
const TOO_WIDE = `[
    document,
    document.querySelector('openapi-explorer').shadowRoot,
    document.querySelector('openapi-explorer').shadowRoot.querySelector('api-response')?.shadowRoot,
  ]
  .flatMap((root) => [...(root?.querySelectorAll('*') ?? [])])
  .filter((element) => {
    const { right, bottom } = element.getBoundingClientRect()
    const tabs = element.matches('.tab-btn') && element.closest('.tab-buttons').getBoundingClientRect()
    return right > innerWidth || bottom > tabs.bottom
  })
  .map((element) => 'too wide: ' + element.outerHTML.slice(0, 80))`

const describeBrowser = existsSync(CHROMIUM) ? describe : describe.skip

describeBrowser('the page', () => {
  const store = useStore(sqlitePlace)
  const service = useService(store)
  const withBasePath = useService(store, '/api')
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

  async function newPage(options: BrowserContextOptions = {}) {
    page = await browser.newPage({ viewport: DESKTOP, ...options })
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (line) => {
      const refused = /responded with a status of (4|502)/.test(line.text()) // the tests cause these
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
  }

  const open = (url = `${service().port}/docs`) => page.goto(`http://127.0.0.1:${url}`)

  async function visit(options?: BrowserContextOptions, url?: string) {
    await newPage(options)
    await open(url)
    await page.locator('button:enabled', { hasText: 'Log in' }).waitFor()
  }

  const says = () => page.locator('output').innerText()

  /** @returns what the page then says */
  async function logIn(email = ADA): Promise<string> {
    const input = page.locator('header input')
    await input.fill(email)
    await input.press('Enter')
    while (/^$|Logging/.test(await says())) await sleep(20)
    return says()
  }

  /** Chooses a control with a click, or with the keyboard alone. */
  async function choose(text: string, device = 'pointer'): Promise<void> {
    const controls = page.locator('button, summary, nav [role=link]')
    const control = controls.filter({ hasText: new RegExp(`${text}\\s*$`, 'i') })
    if (device === 'pointer') await control.click()
    else await (await tabTo(control)).press('Enter')
    await seen(control)
  }

  async function tabTo(control: Locator): Promise<Locator> {
    const focused = control.and(page.locator(':focus'))
    for (let tabs = 0; tabs < 50 && (await focused.count()) === 0; tabs += 1)
      await page.keyboard.press('Tab')
    return focused
  }

  /** Waits until the window shows the top of an element, below the bar. */
  async function seen(element: Locator): Promise<void> {
    const bar = (await page.locator('header').boundingBox())!
    const top = async () => Math.ceil((await element.boundingBox())!.y)
    for (let y = -1; y < bar.height || y > DESKTOP.height - 20; y = await top()) await sleep(20)
  }

  /** Sends the request of the operation that is open. @returns the body of the response, when the window shows it */
  async function execute(device?: string): Promise<string> {
    await choose('Execute', device)
    const body = page.locator('api-request syntax-highlighter[mime-type] pre')
    await seen(body.filter({ hasText: /\w/ }))
    return body.innerText()
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
    ['desktop', 'light', DESKTOP],
    ['page at 400 %', 'dark', ZOOMED],
  ] as const)(
    'on a %s, %s, by the keyboard: the first click logs in, lists, creates and reads; axe finds nothing, nothing is too wide',
    async (_, colorScheme, viewport) => {
      await visit({ viewport, colorScheme })
      await page.locator('input:focus').waitFor()
      await findProblems()
      expect(await logIn()).toBe('Logged in')
      for (const operation of ['List all users', 'Create a user', 'Read a user']) {
        await choose(operation, 'keyboard')
        expect(await execute('keyboard')).toContain('"email": "ada')
        await findProblems()
      }
      const created = (await usersIn(store())).at(-1)!
      expect(requests.at(-1)).toBe(`GET /users/${created.id}`)
      await choose('Response headers', 'keyboard')
      await page.locator('[language=http]', { hasText: 'etag' }).waitFor()
      await findProblems()
    },
  )

  test('a log-in that fails says why, and keeps the token of the one before', async () => {
    await visit()
    expect(await logIn('nobody@example.com')).toBe('no user has this email')
    await choose('List all users')
    expect(await execute()).toContain('a valid bearer token is required')
    expect(await says()).toBe('Logged out: each tab needs its own log-in')
    await logIn()
    const refused = await logIn('nobody@example.com')
    expect(refused).toBe('no user has this email (the former token stays)')
    expect(await execute()).toContain(ADA)
  })

  test.each([
    ['openapi.json', 'The contract does not load: unexpected response: HTTP 502', 0],
    ['openapi-explorer.js', 'docs/openapi-explorer.js does not load', 1],
  ])('says when a proxy has answered in place of %s', async (file, message, errors) => {
    const response = { status: 502, contentType: 'text/html', body: '<html>' }
    await newPage()
    await page.route(`**/${file}`, (route) => route.fulfill(response))
    await open()
    await page.getByText(message).waitFor()
    expect(problems.splice(0)).toHaveLength(errors)
  })

  test('works below a base path, and lists 100 users, never all', async () => {
    await visit({}, `${withBasePath().port}/api/docs`)
    await logIn()
    await choose('List all users')
    expect(await execute()).toContain(ADA)
    await choose('Clear')
    await choose('Execute')
    await page.getByText("no valid value was set for the parameter: 'limit'").waitFor()
    expect(requests).toEqual(['POST /api/login', 'GET /api/users?limit=100'])
  })

  test('has a place for a token when the contract has no log-in', async () => {
    await newPage()
    await page.route('**/openapi.json', async (route) => {
      const contract = await (await route.fetch()).json()
      delete contract.paths['/login']
      await route.fulfill({ json: contract })
    })
    await open()
    await choose('Authentication')
    await page.getByPlaceholder('JWT').fill(tokens.issue('x'))
    await page.locator('button', { hasText: 'Set' }).click()
    await choose('List all users')
    expect(await execute()).toContain(ADA)
    expect(await page.locator('form').count()).toBe(0)
  })
})
