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
import { runToEnd } from './support/program.ts'
import { useService } from './support/service.ts'
import { sqlitePlace, usersIn, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

type Any = any // eslint-disable-line -- a contract can have anything

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 360, height: 800 }
const TURNED = { width: 844, height: 390 }
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

/** In the browser: the control with the focus, unless a frame in the colour of its text, which axe measures, shows it. */
const UNFRAMED = `(() => {
    let { activeElement } = document.querySelector('openapi-explorer').shadowRoot
    while (activeElement?.shadowRoot) activeElement = activeElement.shadowRoot.activeElement
    if (!activeElement || activeElement.matches('.active')) return undefined // the chosen one has a colour of its own
    const { color, outlineColor, outlineStyle } = getComputedStyle(activeElement)
    return outlineStyle === 'solid' && outlineColor === color ? undefined : activeElement.outerHTML
  })()`

/** In the browser: how EXECUTE looks. */
const EXECUTE_STYLES = `(({ color, backgroundColor, opacity }) => [color, backgroundColor, opacity])(
    getComputedStyle(document.querySelector('openapi-explorer').shadowRoot.querySelector('.btn-execute'))
  )`

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

  /** Each control on the way shows that it has the focus. */
  async function tabTo(control: Locator): Promise<Locator> {
    const focused = control.and(page.locator(':focus'))
    for (let tabs = 0; tabs < 50 && (await focused.count()) === 0; tabs += 1) {
      await page.keyboard.press('Tab')
      expect(await page.evaluate(UNFRAMED)).toBeUndefined()
    }
    return focused
  }

  /** Waits until the window shows the top of an element, below the bar. */
  async function seen(element: Locator): Promise<void> {
    const bar = (await page.locator('header').boundingBox())!
    const top = async () => Math.ceil((await element.boundingBox())!.y)
    for (let y = -1; y < bar.height || y > DESKTOP.height - 20; y = await top()) await sleep(20)
  }

  /** Sends the request of the operation that is open. */
  async function execute(device?: string): Promise<string> {
    await choose('Execute', device)
    return answer()
  }

  /** @returns the body of the response, when the window shows it */
  async function answer(): Promise<string> {
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
    ['desktop', 'light', 'keyboard', DESKTOP],
    ['phone', 'dark', 'pointer', PHONE],
    ['page at 400 %', 'dark', 'keyboard', ZOOMED],
  ] as const)(
    'on a %s, %s, by the %s: the first click logs in, lists, creates and reads; axe finds nothing, nothing is too wide',
    async (_, colorScheme, device, viewport) => {
      await visit({ viewport, colorScheme })
      await page.locator('input:focus').waitFor()
      await findProblems()
      expect(await logIn()).toBe('Logged in')
      for (const operation of ['List all users', 'Create a user', 'Read a user']) {
        await choose(operation, device)
        expect(await execute(device)).toContain('"email": "ada')
        await findProblems()
      }
      const created = (await usersIn(store())).at(-1)!
      expect(requests.at(-1)).toBe(`GET /users/${created.id}`)
      if (device === 'keyboard') await tabTo(page.getByLabel('Copy response').first())
      await choose('Response headers', device)
      await page.locator('[language=http]', { hasText: 'etag' }).waitFor()
      await findProblems()
    },
  )

  test.each([
    ['turned upright', TURNED, PHONE],
    ['turned on its side', PHONE, TURNED],
  ])('keeps what was typed and received when it is %s', async (_, before, after) => {
    await visit({ viewport: before })
    await logIn()
    await choose('Rename a user')
    await page.locator('[data-pname=id]').fill('x')
    const body = page.getByRole('textbox', { name: 'request body' })
    await body.fill('{"name":"typed"}')
    expect(await execute()).toContain('user_not_found')
    await page.setViewportSize(after)
    await findProblems()
    expect(await page.locator('[data-pname=id]').inputValue()).toBe('x')
    expect(await body.inputValue()).toBe('{"name":"typed"}')
    expect(await answer()).toContain('user_not_found')
    await choose('List all users')
    expect(await execute()).toContain(ADA)
  })

  test.each([DESKTOP, PHONE])('describes each parameter: %j', async (viewport) => {
    await visit({ viewport })
    await choose('List all users')
    const row = (name: string) =>
      page.locator('tr', { has: page.locator(`[data-pname=${name}]`) }).innerText()
    expect(await row('limit')).toMatch(/Without it.*Only this page requires a value/)
    expect(await page.getByText('Only this page').count()).toBe(1)
    await choose('Delete a user')
    expect(await row('If-Match')).toContain('Unless one is that of the user')
    expect(await row('If-None-Match')).toContain('If one is that of the user')
    const hint = (name: string) => page.locator(`[data-pname=${name}]`).getAttribute('placeholder')
    expect(await Promise.all(['If-Match', 'If-None-Match'].map(hint))).toEqual(['*', '"abc"'])
  })

  test('stays at the response when a keyboard on the screen changes only the height', async () => {
    await visit({ viewport: PHONE })
    await logIn()
    await choose('List all users')
    await execute()
    const limit = page.locator('[data-pname=limit]')
    await limit.focus()
    await page.locator('[data-tab=headers]').scrollIntoViewIfNeeded()
    const before = await limit.boundingBox()
    await page.setViewportSize({ ...PHONE, height: 500 })
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
    expect(await limit.boundingBox()).toEqual(before)
  })

  /** Logs in, opens an operation, and sends its request. @returns what lets its response come */
  async function sendTo(operation: string, viewport = DESKTOP, send = () => choose('Execute')) {
    await visit({ viewport })
    await logIn()
    requests.length = 0
    let respond = () => {}
    const responding = new Promise<void>((resolve) => (respond = resolve))
    await page.route(/users/, (route) => responding.then(() => route.continue()))
    await choose(operation)
    await send()
    await page.locator('.btn-execute:disabled').waitFor()
    return respond
  }

  test('shows what hangs: a request, and a log-in', async () => {
    await sendTo('List all users')
    const styles = await page.evaluate(EXECUTE_STYLES)
    expect(styles).toEqual(['rgb(255, 255, 255)', 'rgb(87, 96, 106)', '1'])
    await page.route(/login/, () => {})
    await page.locator('header button').click()
    expect(await says()).toBe('Logging in…')
  })

  test.each([DESKTOP, PHONE])(
    'what is typed while a request is on its way stays in its field, and sends nothing: %j',
    async (viewport) => {
      const respond = await sendTo('Create a user', viewport)
      const body = page.getByRole('textbox', { name: 'request body' })
      await body.fill('')
      await body.pressSequentially('Mary ')
      respond()
      await page.locator('.response-message').waitFor()
      await page.keyboard.type('Ann Smith')
      expect([await body.inputValue(), requests]).toEqual(['Mary Ann Smith', ['POST /users']])
    },
  )

  test('a response does not show in another operation, change its id or lead to its EXECUTE', async () => {
    const respond = await sendTo('Create a user')
    await choose('Delete a user')
    const id = page.locator('[data-pname=id]')
    await id.fill('x')
    await page.getByRole('heading', { name: 'Delete a user' }).click() // takes no focus
    respond()
    while ((await says()) !== 'POST /users: 201') await sleep(20)
    await page.keyboard.press('Space')
    await sleep(100)
    expect(await page.locator('.response-message').count()).toBe(0)
    expect([await id.inputValue(), requests]).toEqual(['x', ['POST /users']])
  })

  test('a second Enter in a field, a double click and a key that is held send one request', async () => {
    const id = () => page.locator('[data-pname=id]')
    const respond = await sendTo('Delete a user', DESKTOP, async () => {
      await id().fill('x')
      await id().press('Enter')
    })
    await id().press('Enter')
    respond()
    const button = page.locator('.btn-execute:enabled')
    await button.dispatchEvent('click', { detail: 2 })
    await button.focus()
    await page.keyboard.down('Enter')
    await page.locator('.btn-execute:disabled').waitFor()
    await button.waitFor()
    await page.keyboard.down('Enter') // is a repetition
    await page.keyboard.up('Enter')
    await sleep(100)
    expect(requests).toEqual(['DELETE /users/x', 'DELETE /users/x'])
  })

  test('shows the request of an operation as soon as it opens, in quotes that a shell reads', async () => {
    await visit({ viewport: PHONE })
    const first = await page.locator('summary').first().boundingBox()
    expect(first!.y).toBeLessThan(PHONE.height / 2) // without a scroll
    await choose('Create a user')
    const curl = page.locator('[language=shell] pre')
    await curl.filter({ hasText: 'curl -X POST' }).waitFor()
    await page.getByRole('textbox', { name: 'request body' }).fill(`{"name":"O'Neill","email":"'"}`)
    const command = (await curl.innerText()).replace('curl', 'printf "%s\\n"')
    const printed = runToEnd('sh', ['-c', command])
    expect(JSON.parse(printed.split('\n-d\n')[1]!)).toEqual({ name: "O'Neill", email: "'" })
  })

  test('a log-in that fails says why, and keeps the token of the one before', async () => {
    await visit()
    expect(await logIn('nobody@example.com')).toBe('no user has this email')
    await choose('List all users')
    expect(await execute()).toContain('a valid bearer token is required')
    expect(await says()).toBe('Log in first')
    await logIn()
    const refused = await logIn('nobody@example.com')
    expect(refused).toBe('no user has this email (the former token stays)')
    expect(await execute()).toContain(ADA)
  })

  const CONTRACT = 'The contract does not load:'
  const PAGE = { contentType: 'text/html', body: '<html>', status: 502 }
  test.each([
    ['openapi.json', PAGE, `${CONTRACT} unexpected response: HTTP 502`],
    ['openapi.json', { json: null, status: 200 }, `${CONTRACT} unexpected response: HTTP 200`],
    ['openapi.json', { json: { message: 'no upstream' }, status: 502 }, `${CONTRACT} no upstream`],
    ['openapi-explorer.js', PAGE, 'docs/openapi-explorer.js does not load'],
  ])(
    'says why it does not work when a proxy responds to %s: %j',
    async (file, response, message) => {
      await newPage()
      await page.route(`**/${file}`, (route) => route.fulfill(response))
      await open()
      await page.getByText(message).waitFor()
      expect(await page.locator('openapi-explorer h2, button:enabled').count()).toBe(0)
      expect(problems.splice(0)).toHaveLength(file.endsWith('.js') ? 1 : 0)
    },
  )

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

  /** Opens the page of another service: `change` makes its contract. */
  async function openOther(change: (contract: Any) => void): Promise<void> {
    await newPage()
    await page.route('**/openapi.json', async (route) => {
      const contract = await (await route.fetch()).json()
      change(contract)
      await route.fulfill({ json: contract })
    })
    await open()
  }

  const text = { type: 'string' }
  test('asks for what the contract of another service names, sends the token, and a list in a query as a repeated parameter', async () => {
    await openOther(({ paths, components }) => {
      paths['/sessions'] = paths['/login']
      delete paths['/login']
      components.schemas.Login = { type: 'object', properties: { name: text } }
      components.securitySchemes = { jwt: components.securitySchemes.bearer }
      const list = paths['/users'].get
      list.security = [{ jwt: [] }]
      list.parameters.push({ name: 'tag', in: 'query', schema: { type: 'array', items: text } })
    })
    await page.route('**/sessions', async (route) => {
      expect(route.request().postDataJSON()).toEqual({ name: 'Ada' })
      await route.fulfill({ json: { token: tokens.issue('x') } })
    })
    expect(await logIn('Ada')).toBe('Logged in')
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ada')
    await choose('List all users')
    expect(await execute()).toContain(ADA)
    for (const value of ['a', 'b,c'])
      await page.locator('tag-input input').pressSequentially(`${value}\n`)
    const sent = page.waitForRequest(/[?&]tag=a&tag=b%2Cc$/)
    await choose('Execute')
    await sent
  })

  test.each<[string, (contract: Any) => void]>([
    ['has no log-in', ({ paths }) => delete paths['/login']],
    [
      'asks for a password',
      ({ components }) => (components.schemas.Login.properties = { email: text, password: text }),
    ],
  ])('has a place for a token when the contract %s', async (_, change) => {
    await openOther(change)
    await choose('Authentication')
    await page.getByPlaceholder('JWT').fill(tokens.issue('x'))
    await page.locator('button', { hasText: 'Set' }).click()
    await choose('List all users')
    expect(await execute()).toContain(ADA)
    expect(await page.locator('form').count()).toBe(0)
  })
})
