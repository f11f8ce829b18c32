// The page at /docs, in the browser: shows the contract in OpenAPI Explorer, logs in, and keeps the
// values in the forms such that they work.
const explorer = document.createElement('openapi-explorer')
const [form, status] = ['form', 'output'].map((name) => document.querySelector(name))
const [menu, logOutButton] = ['#menu', '#log-out'].map((id) => document.querySelector(id))

/** The path of all users; the page may be behind a proxy that adds a prefix. */
const USERS_PATH = new URL('users', location.href).pathname
/** Where the session is kept, `{ email, token }`, until the tab closes. */
const SESSION_KEY = location.pathname
let session = JSON.parse(sessionStorage.getItem(SESSION_KEY))
/** The ids of the users that were created on this page and exist. */
let ids = []
/** The id of the first user in the last list, only for GET: the user was not created here. */
let listedId
/** As much of a response as is shown: the highlighting of 20 MB stops the tab for minutes. */
const SHOWN_LENGTH = 100_000
const saveLink = document.createElement('a')
const UNKNOWN_EMAIL = 'No user has this email. The program create-user creates the first user.'

void showContract()

async function showContract() {
  const contract = await (await fetch('openapi.json')).json()
  const { title } = contract.info
  document.title = document.querySelector('h1').textContent = title
  // The service is at the URL of this page, even if a proxy adds a path prefix.
  contract.servers = [{ url: new URL('.', location.href).href.replace(/\/$/, '') }]
  explorer.handleResize = () => {} // otherwise a small window has no menu and no search
  explorer.setAttribute('default-schema-tab', 'body')
  explorer.setAttribute('hide-authentication', '')
  explorer.setAttribute('hide-components', '') // each operation shows those that it uses
  explorer.setAttribute('hide-server-selection', '')
  document.body.append(explorer)
  explorer.shadowRoot.addEventListener('focusin', ({ target }) => {
    if (target.closest('main')) closeMenu() // on a phone, it covers the page
  })
  explorer.shadowRoot.append(document.querySelector('[rel=stylesheet]').cloneNode())
  await explorer.loadSpec(contract)
  await startSession(session)
  form.querySelector('button').disabled = false
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void logInAs(form.elements.email.value.trim())
})
logOutButton.addEventListener('click', () => void startSession(null))

async function logInAs(email) {
  const headers = { 'Content-Type': 'application/json' }
  try {
    const response = await fetch('login', {
      method: 'POST',
      headers,
      body: JSON.stringify({ email }),
    })
    const { token, code, message = response.statusText } = await response.json()
    const reason = code === 'email_not_found' ? UNKNOWN_EMAIL : message
    await startSession(token ? { email, token } : null, reason)
  } catch (error) {
    await startSession(null, error.message)
  }
}

/** Logs in, or out with `null`, and says so. */
async function startSession(newSession, message = '') {
  session = newSession
  if (session) sessionStorage.setItem(SESSION_KEY, JSON.stringify(session))
  else sessionStorage.removeItem(SESSION_KEY)
  const hadFocus = document.activeElement.matches('form *, #log-out')
  form.hidden = Boolean(session)
  logOutButton.hidden = !session
  if (hadFocus) (session ? logOutButton : form.elements.email).focus()
  await explorer.setAuthenticationConfiguration('bearer', { token: session?.token })
  await fillIn()
  status.textContent = session ? `Logged in as ${session.email}` : message
}

function endSession() {
  return startSession(null, 'The token is no longer valid. Log in again.')
}

explorer.addEventListener('response', (event) => {
  const { request, response } = event.detail
  if (!response) return
  void shorten(event.composedPath()[0], response)
  const path = new URL(request.url).pathname
  const isUsers = path === USERS_PATH
  const isUser = path === `${USERS_PATH}/${request.path.id}`
  const created = isUsers && request.method === 'POST' && response.status === 201
  const deleted = isUser && request.method === 'DELETE' && response.status === 204
  const gone = deleted || response.status === 404
  const listed = isUsers && request.method === 'GET' && response.status === 200
  if (created) ids.push(JSON.parse(response.body).id)
  if (listed) listedId = /"id":"(\w+)"/.exec(response.body)?.[1]
  if (gone) ids = ids.filter((id) => id !== request.path.id)
  if (gone && request.path.id === listedId) listedId = undefined
  if (created || listed || gone) void fillIn()
  if (response.status !== 401) return
  const isLogin = request.url.endsWith('/login')
  if (!session) status.textContent = isLogin ? UNKNOWN_EMAIL : 'Log in first'
  else if (!isLogin) void endSession()
})

/** Shows the start of a long response, and a link that saves all of it. */
async function shorten(view, { headers, body }) {
  URL.revokeObjectURL(saveLink.href)
  if (view.responseText.length <= SHOWN_LENGTH) return
  view.responseText = view.responseText.slice(0, SHOWN_LENGTH)
  const blob = new Blob([body])
  saveLink.href = URL.createObjectURL(blob)
  saveLink.download = /ndjson/.test(headers['content-type']) ? 'response.ndjson' : 'response.json'
  saveLink.textContent = `Only the start is shown. Save all ${(blob.size / 1e6).toFixed(1)} MB`
  await view.updateComplete
  view.querySelector('.response-message')?.append(saveLink) // none if another operation was opened
}

/**
 * Fills in what works and harms nobody: a user created on this page, or to read one of the list; the first
 * users; an email that no user has; one to log in with.
 */
async function fillIn() {
  const emails = {
    createUser: (email) => email.replace(/(-\w+)?@/, `-${Date.now().toString(36)}@`),
    login: (email) => session?.email ?? email,
  }
  for (const operation of explorer.resolvedSpec.tags.flatMap(({ paths }) => paths)) {
    const id = ids.at(-1) ?? (operation.method === 'get' ? listedId : undefined)
    const values = { id, limit: 100 }
    operation.parameters = operation.parameters.map((parameter) =>
      parameter.name in values
        ? { ...parameter, schema: { ...parameter.schema, default: values[parameter.name] } }
        : parameter,
    )
    const email = emails[operation.operationId]
    if (email) operation.requestBody = replaceEmails(operation.requestBody, email)
  }
  explorer.requestUpdate()
  await explorer.updateComplete
  const request = explorer.shadowRoot.querySelector('api-request')
  if (request) request.cachedBodyData = undefined // otherwise it keeps the body from before
  request?.requestUpdate()
}

/** The body, with `email` applied to each email in its examples. */
function replaceEmails(body, email) {
  return JSON.parse(JSON.stringify(body), (key, value) =>
    key === 'email' && typeof value === 'string' ? email(value) : value,
  )
}

menu.addEventListener('click', toggleMenu)
explorer.addEventListener('event', closeMenu)

/** Moves the focus from the entry that was chosen, and from what the menu covered, to the page. */
function closeMenu() {
  if (menu.ariaExpanded === 'false') return
  toggleMenu()
  explorer.shadowRoot.querySelector('main').focus()
}

function toggleMenu() {
  menu.ariaExpanded = explorer.dataset.menu = menu.ariaExpanded === 'false'
}
