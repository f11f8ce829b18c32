// The page at /docs, in the browser: shows the contract in OpenAPI Explorer, logs in, and keeps the
// values in the forms such that they work.
const explorer = document.createElement('openapi-explorer')
const [form, status] = ['form', 'output'].map((name) => document.querySelector(name))
const [menu, logOutButton] = ['#menu', '#log-out'].map((id) => document.querySelector(id))

/** Who is logged in, `{ email, token }`, until the tab closes. */
const KEY = location.pathname
let session = JSON.parse(sessionStorage.getItem(KEY))
/** The ids of users that exist: the one who is logged in, then those created on this page. */
let ids = []
const NO_USER = 'No user has this email. The program create-user creates the first user.'

void show()

async function show() {
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
  explorer.shadowRoot.append(document.querySelector('[rel=stylesheet]').cloneNode())
  await explorer.loadSpec(contract)
  await startSession(session)
  form.querySelector('button').disabled = false
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void logInAs(form.elements.email.value)
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
    const { token, message = response.statusText } = await response.json()
    const reason = response.status === 401 ? NO_USER : message
    await startSession(token ? { email, token } : null, reason)
  } catch (error) {
    await startSession(null, error.message)
  }
}

/** Logs in, or out with `null`, and says so. */
async function startSession(next, message = '') {
  session = next
  if (session) sessionStorage.setItem(KEY, JSON.stringify(session))
  else sessionStorage.removeItem(KEY)
  form.hidden = Boolean(session)
  logOutButton.hidden = !session
  await explorer.setAuthenticationConfiguration('bearer', { token: session?.token })
  ids = session ? await idsOf(session) : []
  if (session !== next) return
  await fillIn()
  status.textContent = session ? `Logged in as ${session.email}` : message
}

/** The id of the user who is logged in, or of the first user if that user was deleted. */
async function idsOf({ email, token }) {
  const headers = { Authorization: `Bearer ${token}` }
  for (const query of [`email=${encodeURIComponent(email)}`, 'limit=1']) {
    const response = await fetch(`users?${query}`, { headers })
    if (response.status === 401) void refused()
    const users = response.ok ? await response.json() : []
    if (users.length > 0 || !response.ok) return users.map(({ id }) => id)
  }
  return []
}

function refused() {
  return startSession(null, 'The token is no longer valid. Log in again.')
}

explorer.addEventListener('response', ({ detail: { request, response } }) => {
  const created = request.method === 'POST' && response?.status === 201
  const deleted = request.method === 'DELETE' && response?.status === 204
  if (created) ids.push(JSON.parse(response.body).id)
  if (deleted) ids = ids.filter((id) => id !== request.path.id)
  if (created || deleted) void fillIn()
  if (response?.status !== 401) return
  const isLogin = request.url.endsWith('/login')
  if (!session) status.textContent = isLogin ? NO_USER : 'Log in first'
  else if (!isLogin) void refused()
})

/** Fills in what works: the id of a user that exists (or else the example), an email that no user has, one to log in with. */
async function fillIn() {
  const emails = {
    createUser: (email) => email.replace(/(-\w+)?@/, `-${Date.now().toString(36)}@`),
    login: (email) => session?.email ?? email,
  }
  for (const operation of explorer.resolvedSpec.tags.flatMap(({ paths }) => paths)) {
    operation.parameters = operation.parameters.map((parameter) =>
      parameter.in === 'path'
        ? {
            ...parameter,
            schema: { ...parameter.schema, default: ids.at(-1) ?? parameter.example },
          }
        : parameter,
    )
    const email = emails[operation.operationId]
    if (email) operation.requestBody = withEmails(operation.requestBody, email)
  }
  explorer.requestUpdate()
  await explorer.updateComplete
  const shown = explorer.shadowRoot.querySelector('api-request')
  if (shown) shown.cachedBodyData = undefined // otherwise it keeps the body from before
  shown?.requestUpdate()
}

/** The body, with other emails in its examples. */
function withEmails(body, email) {
  return JSON.parse(JSON.stringify(body), (key, value) =>
    key === 'email' && typeof value === 'string' ? email(value) : value,
  )
}

menu.addEventListener('click', () => toggleMenu())
explorer.addEventListener('event', () => toggleMenu(false))

function toggleMenu(open = menu.ariaExpanded === 'false') {
  menu.ariaExpanded = explorer.dataset.menu = open
}
