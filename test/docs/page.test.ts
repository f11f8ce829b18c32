// The page at /docs in a real browser. One tab serves all tests: each starts logged out, on a fresh load.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import axe from 'axe-core'
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { chromium, type Browser, type Page, type ViewportSize } from 'playwright-core'
import { contract, contractOperations, type OperationId } from '../../src/contract/contract.ts'
import { CHROMIUM } from '../support/chromium.ts'
import { describeNginx, LOCATION, useNginx } from '../support/nginx.ts'
import { listen, useService } from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const INSIDE = `document.querySelector('openapi-explorer').shadowRoot`
/** In the browser: the elements with content that does not fit. */
const TOO_WIDE = `[document.documentElement, ...${INSIDE}.querySelectorAll('*')]
  .filter(({ clientWidth, scrollWidth }) => clientWidth > 1 && scrollWidth > clientWidth + 1)
  .filter((element) => !element.matches('input, textarea'))
  .filter((element) => element.matches('html') || getComputedStyle(element).overflowX !== 'visible')
  .map(({ outerHTML }) => 'too wide: ' + outerHTML.slice(0, 80))`

/** In the browser: what the fields of the operation's parameters show. */
const VALUES = `[...${INSIDE}.querySelectorAll('.request-param')].map(({ value, placeholder }) => value || placeholder)`

/** In the browser: the controls that have the focus but do not show it, or are covered. */
const INVISIBLE_FOCUS = `(function within(root) {
  return [...root.querySelectorAll('*')].flatMap((element) => {
    if (element.shadowRoot) return within(element.shadowRoot)
    element.focus()
    if (!element.matches(':focus')) return []
    const { x, y, width, height } = element.getBoundingClientRect()
    const top = root.elementFromPoint(x + width / 2, y + height / 2)
    const uncovered = element.contains(top) || top?.contains(element)
    const outlined = getComputedStyle(element).outlineStyle !== 'none'
    return uncovered && outlined ? [] : ['no focus at ' + element.outerHTML.slice(0, 80)]
  })
})(document)`

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
const SCHEMES = ['light', 'dark'] as const
const ADA = 'ada@example.com'
const NO_USER = 'No user has this email. The program create-user creates the first user.'
const PATHS = contract.paths as Record<string, Record<string, { summary?: string }>>
const SUMMARY = Object.fromEntries(
  contractOperations.map(({ id, path, method }) => [id, PATHS[path]![method]!.summary]),
) as Record<OperationId, string>

/** @param color such as `rgb(255, 255, 255)`, which is 765 */
const lightness = (color: string) =>
  color.match(/\d+/g)!.reduce((sum, part) => sum + Number(part), 0)

const describeBrowser = existsSync(CHROMIUM) ? describe : describe.skip

describeBrowser('the page', () => {
  const store = useStore(sqlitePlace)
  const service = useService(store)
  const withBasePath = useService(store, undefined, '/api')
  const warnings: string[] = []
  const sent: string[] = []
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM })
    page = await browser.newPage()
    page.setDefaultTimeout(10_000)
    page.on('pageerror', (error) => warnings.push(error.message))
    page.on('console', (line) => {
      const refused = /responded with a status of 4/.test(line.text()) // the tests cause these
      if (['error', 'warning'].includes(line.type()) && !refused) warnings.push(line.text())
    })
    page.on('request', (request) => {
      const here = /^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())
      if (!here) warnings.push(`a request to ${request.url()}`)
      sent.push(request.url() + (request.postData() ?? ''))
    })
    await visit(SIZES.desktop)
  })
  afterAll(() => browser.close())

  beforeEach(async () => {
    if (!(await store().findByEmail(ADA))) await store().create(newUser({ email: ADA }))
    await page.evaluate('sessionStorage.clear()')
  })
  // Such as violations of the Content-Security-Policy.
  afterEach(() => expect(warnings.splice(0)).toEqual([]))

  const said = () => page.getByRole('banner').getByRole('status')
  const button = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}$`, 'i') })
  const entries = () => page.locator('nav .nav-bar-path[id^="link-"]')
  const body = () => page.getByRole('textbox', { name: 'Request Body' })
  const field = (name: string) => page.locator(`[data-pname="${name}"]`)
  const values = () => page.evaluate<string[]>(VALUES)
  const hasFocus = (name: string) => button(name).and(page.locator(':focus')).waitFor()

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
    const response = page.waitForResponse((one) => !one.url().includes('docs'))
    await button('Execute').click()
    const status = (await response).status()
    await page.locator('.response-message', { hasText: `(${status})` }).waitFor()
    const shown = page.locator('api-request').locator('syntax-highlighter[mime-type] pre, img')
    return { status, shown: await shown.filter({ hasNotText: '⌛' }).innerText() }
  }

  /** Opens an operation and executes it. */
  const first = (operation: OperationId) => open(operation).then(execute)

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
    await openMenu() // it closes when the focus leaves it
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

    test('keeps the log-in in sight, and after a click on Execute the status and the response, without a jump', async () => {
      expect(await logIn(` ${ADA} `)).toBe(`Logged in as ${ADA}`) // an email is trimmed
      const response = page.locator('.response-message, api-request syntax-highlighter[mime-type]')
      const main = `${INSIDE}.querySelector('main')`
      for (const operation of ['listUsers', 'createUser'] as const) {
        await open(operation)
        for (const [block, moved] of Object.entries({ end: 1, start: 0 })) {
          const scroll = `${main}.querySelector('.btn-execute').scrollIntoView({ block: '${block}' })`
          const top = await page.evaluate<number>(`${scroll}; ${main}.scrollTop`)
          await execute()
          expect(await page.evaluate(`Math.sign(${main}.scrollTop - ${top})`)).toBe(moved)
          for (const part of [said(), button('Log out'), ...(await response.all())]) {
            const { x, y, width, height } = (await part.boundingBox())!
            expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
            expect(x + width).toBeLessThanOrEqual(viewport.width)
            expect(y + Math.min(height, 70)).toBeLessThanOrEqual(viewport.height)
          }
        }
      }
    })

    test('the keyboard reaches the log-in first, and the focus is never lost', async () => {
      await page.locator('nav .active').waitFor({ state: 'attached' }) // the page has loaded
      await page.keyboard.press('Tab')
      await page.keyboard.type(ADA)
      await page.keyboard.press('Enter')
      await hasFocus('Log out')
      await open('listUsers')
      expect(await page.locator(':focus').last().isVisible()).toBe(true)
      await button('Execute').press('Enter')
      await page.locator('.response-message', { hasText: '(200)' }).waitFor()
      await hasFocus('Execute')
    })

    test('is never wider than the screen, shows the focus, and axe finds nothing in light and in dark', async () => {
      await page.evaluate(axe.source)
      for await (const view of views()) {
        const problems = await page.evaluate<string[]>(TOO_WIDE)
        for (const colorScheme of SCHEMES) problems.push(...(await violations(colorScheme)))
        await page.keyboard.press('Shift') // the browser shows the focus to users of the keyboard
        problems.push(...(await page.evaluate<string[]>(INVISIBLE_FOCUS)))
        expect([view, ...problems]).toEqual([view])
      }
    })
  })

  describe('on a screen of any size', () => {
    beforeEach(() => visit(SIZES.desktop))

    test('the example of every operation succeeds at the first click', async () => {
      await logIn()
      for (const { id, path, responseTypes } of contractOperations) {
        if (path.includes('{id}')) await first('createUser') // another operation may have deleted the last user
        const [success] = Object.keys(responseTypes)
        expect([id, (await first(id)).status]).toEqual([id, Number(success)])
      }
    })

    test('the examples succeed at the second click too, with users created here who exist', async () => {
      await logIn()
      await open('createUser')
      const email = await body().inputValue()
      expect(await execute()).toMatchObject({ status: 201, shown: expect.stringContaining('ada-') })
      for (let next = email; next === email;) next = await body().inputValue()
      const { id } = JSON.parse((await execute()).shown)
      await open('deleteUser')
      expect(await values()).toEqual([id, '', ''])
      await store().remove(id)
      expect((await execute()).status).toBe(404)
      expect((await execute()).status).toBe(204)
      expect(await values()).toEqual(['', '', ''])
    })

    test('fills in no user who was not created here, except to read the first of the list; sends nothing without an id', async () => {
      await logIn()
      const [{ id }] = JSON.parse((await first('listUsers')).shown)
      await store().remove(id)
      expect(await first('readUser')).toMatchObject({ status: 404 })
      sent.length = 0
      for (const operation of ['readUser', 'renameUser', 'deleteUser'] as const) {
        await open(operation)
        expect(await values()).toEqual(['', '', ''])
        await button('Execute').click()
        await page.locator('.response-message', { hasText: 'required' }).waitFor()
      }
      expect(sent).toEqual([])
    })

    test('lists 100 users, and sends one request for two clicks', async () => {
      await open('listUsers')
      expect(await values()).toEqual(['100', '', ''])
      sent.length = 0
      const click = `${INSIDE}.querySelector('.btn-execute').click()`
      await page.evaluate(`${click}; ${click}`)
      await page.locator('.response-message', { hasText: '(401)' }).waitFor()
      expect(sent).toEqual([expect.stringMatching(/users\?limit=100$/)])
    })

    test('shows the start of a long response and its size, and saves all of it', async () => {
      const { id } = await store().create(newUser({ name: 'é'.repeat(200_000) }))
      await logIn()
      await open('readUser')
      await field('id').fill(id)
      expect((await execute()).shown.length).toBeLessThan(101_000)
      const saved = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Save all 0.4 MB' }).click()
      expect((await saved).suggestedFilename()).toBe('response.json')
      const text = readFileSync(await (await saved).path(), 'utf8')
      expect(JSON.parse(text)).toEqual(await store().find(id))
      await store().remove(id)
    })

    test('what is typed in is sent as it is, and the message of a 400 is shown', async () => {
      await logIn()
      const grace = newUser()
      await open('createUser')
      await body().fill(JSON.stringify(grace))
      expect((await execute()).status).toBe(201)
      const shown = expect.stringContaining(`a user with email \`${ADA}\` already exists`)
      await body().fill(JSON.stringify({ email: ADA }))
      expect(await execute()).toMatchObject({ status: 400, shown })
      expect(await store().findByEmail(grace.email)).toMatchObject(grace)
      const texts = ["{'name': 'x'}", '{name: "x"}', '{"name": 7,}', '12345678901234567890']
      for (const text of texts) {
        await body().fill(text)
        const shown = expect.stringMatching(/"the body (is not valid JSON|must be)/)
        expect(await execute()).toEqual({ status: 400, shown })
        expect(sent.at(-1)!.split('/users')[1]).toBe(text)
      }
    })

    test('the log-in survives a reload, and can be undone for good', async () => {
      await logIn()
      await page.reload()
      await said().filter({ hasText: ADA }).waitFor()
      expect((await first('listUsers')).status).toBe(200)
      await button('Log out').click()
      expect((await first('listUsers')).status).toBe(401)
      await page.reload()
      await button('Log in').waitFor()
      expect((await first('listUsers')).status).toBe(401)
    })

    test('says why a log-in is refused, sends every request without it, and says what to do', async () => {
      expect(await logIn('nobody@example.com')).toBe(NO_USER)
      await store().remove((await store().findByEmail(ADA))!.id)
      for (const { id, path } of contractOperations.filter((one) => one.responseTypes['401'])) {
        await open(id)
        if (path.includes('{id}')) await field('id').fill('x')
        expect((await execute()).status).toBe(401)
        const hint = id === 'login' ? NO_USER : 'Log in first'
        await said().filter({ hasText: hint }).waitFor()
      }
    })

    test('says that the token has expired', async () => {
      await logIn()
      const { now } = Date
      Date.now = () => now() + 2 * 86_400_000
      const listing = first('listUsers').finally(() => (Date.now = now))
      expect((await listing).status).toBe(401)
      await said().filter({ hasText: 'The token is no longer valid. Log in again.' }).waitFor()
      await button('Log in').waitFor()
    })

    test('shows NDJSON as text', async () => {
      await logIn()
      await open('listUsers')
      await field('Accept').selectOption('application/x-ndjson')
      const { shown } = await execute()
      const lines = shown.trim().split('\n')
      expect(lines.map((line) => JSON.parse(line))).toContainEqual(await store().findByEmail(ADA))
    })

    test('is dark when the system is', async () => {
      for (const part of ['header', 'openapi-explorer']) {
        await page.locator(part).waitFor() // page.js adds the explorer after the page has loaded
        const found: number[] = []
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme })
          const color = `getComputedStyle(document.querySelector('${part}')).backgroundColor`
          found.push(lightness(await page.evaluate(color)))
        }
        expect(found[0]! - found[1]!).toBeGreaterThan(400)
      }
    })

    test('shows the code of an error, in the examples and in a response', async () => {
      await logIn()
      await open('createUser')
      await button('400').click()
      const examples = page.locator('api-response')
      await examples.filter({ hasText: 'email_taken' }).waitFor()
      await body().fill(JSON.stringify(newUser({ email: ADA })))
      const { status, shown } = await execute()
      expect([status, JSON.parse(shown).code]).toEqual([400, 'email_taken'])
    })

    describeNginx('behind nginx', () => {
      const url = useNginx(LOCATION, () => withBasePath().port)

      test('shows the contract, logs in, and links to it', async () => {
        await visit(SIZES.desktop, Number(new URL(url()).port), '/api')
        expect(await logIn()).toBe(`Logged in as ${ADA}`)
        expect((await first('listUsers')).status).toBe(200)
        expect((await first('createUser')).status).toBe(201)
        for (const link of await page.getByRole('banner').getByRole('link').all()) {
          const path = await link.getAttribute('href')
          expect((await fetch(`${url()}/api/${path}`)).status).toBe(200)
        }
      })
    })

    test('works behind a proxy that adds a path prefix', async () => {
      const proxy = http.createServer((request, response) => {
        const path = request.url!.slice('/api'.length) // which leaves no path of a URL without it
        const { method, headers } = request
        const { port } = service()
        const outgoing = http.request({ port, path, method, headers }, (incoming) => {
          incoming.pipe(response.writeHead(incoming.statusCode!, incoming.headers))
        })
        request.pipe(outgoing)
      })
      await visit(SIZES.desktop, await listen(proxy.unref()), '/api')
      expect(await logIn()).toBe(`Logged in as ${ADA}`)
      expect((await first('listUsers')).status).toBe(200)
    })
  })
})
