// The page at /docs, in the browser: a form that gets a token for OpenAPI Explorer, and values that work at the first
// click.
const explorer = document.querySelector('openapi-explorer')
const form = document.querySelector('form')
const [input, button, output] = form.elements
let operations
/** What issues a token: it needs none, its body has one field, and its response `token`. */
let issuer

if (!explorer.shadowRoot) output.value = 'docs/openapi-explorer.js does not load'

explorer.addEventListener('spec-loaded', ({ detail: { info, tags } }) => {
  document.title = document.querySelector('h1').textContent = info.title
  operations = tags.flatMap(({ paths }) => paths)
  issuer = operations.find(
    ({ method, security, requestBody, responses }) =>
      method === 'post' &&
      !security?.length &&
      fieldsOf(requestBody).length === 1 &&
      fieldsOf(responses[200]).includes('token'),
  )
  explorer.hideAuthentication = Boolean(issuer)
  if (issuer) showForm()
  else form.remove()
  fillIn('limit', 100) // OpenAPI Explorer takes minutes to show a list of 20 MB
  for (const operation of operations) {
    operation.parameters = operation.parameters.filter(({ name }) => name !== 'Accept') // it shows only JSON
    for (const parameter of operation.parameters) parameter.explode ??= true // else it sends a list as one value
    if (explorer.renderStyle !== 'focused') operation.parameters.forEach(describeParameter)
    if (!operation.requestBody || !operation.security?.length) continue
    const text = JSON.stringify(operation.requestBody)
    operation.requestBody = JSON.parse(text.replaceAll('@', `-${Date.now()}@`)) // an address may be taken
  }
})

explorer.shadowRoot.addEventListener('request', ({ target, detail: { request } }) => {
  const body = target.querySelector('.request-body-container textarea')
  if (body) request.body = body.value // as typed: OpenAPI Explorer repairs JSON
})

explorer.shadowRoot.addEventListener('response', ({ target, detail }) => {
  const { request, response, error } = detail
  const button = target.querySelector('.btn-execute')
  if (response?.status === 201) fillIn('id', JSON.parse(response.body).id)
  if (request.explorerLocation !== target.elementId) {
    target.clearResponseData() // or it would look like a response of the operation that is open now
    output.value = `${request.method} ${new URL(request.url).pathname}: ${response?.status ?? error.message}`
  } else if (document.activeElement === document.body) {
    button.focus() // it was disabled
    bringUp(button)
  }
  if (response?.status === 401 && target.path !== issuer?.path) output.value = 'Log in first'
})

// One request at a double click, while a key is held, and at Enter in a field while a request is on its way.
for (const type of ['click', 'keydown', 'keyup'])
  explorer.shadowRoot.addEventListener(
    type,
    (event) => {
      const { target, detail, repeat, key } = event
      const isButton = target.matches('.btn-execute')
      const isField = type === 'keyup' && key === 'Enter' && target.matches('input')
      const isSending = target.closest('api-request')?.querySelector('.btn-execute:disabled')
      if (!(isButton && (detail > 1 || repeat)) && !(isField && isSending)) return
      event.preventDefault()
      event.stopPropagation()
    },
    true,
  )

explorer.shadowRoot.addEventListener('click', ({ target }) => bringUp(target))

const fieldsOf = (part) =>
  Object.keys(part?.content?.['application/json']?.schema?.properties ?? {})

function showForm() {
  const [field] = fieldsOf(issuer.requestBody)
  form.querySelector('span').textContent = field[0].toUpperCase() + field.slice(1)
  input.name = input.autocomplete = input.inputMode = field
}

/** Shows the request of each operation that is open, as OpenAPI Explorer does at the first change of a field. */
function showRequests() {
  for (const request of explorer.shadowRoot.querySelectorAll('api-request')) {
    request.computeCurlSyntax()
    // OpenAPI Explorer does not escape an apostrophe for the shell.
    request.curlSyntax = request.curlSyntax.replace(/(?<= -d '.*)'(?!$)/gs, '\\u0027')
  }
}

explorer.shadowRoot.addEventListener('input', showRequests)

/** Scrolls to a button, or the title of an operation, when OpenAPI Explorer has rendered what is below it. */
const bringUp = (element) =>
  setTimeout(() => element.closest('summary, .btn-execute')?.scrollIntoView())

/** Shows the description in place of the type: on a narrow screen, OpenAPI Explorer shows none. */
function describeParameter(parameter) {
  const format = parameter.description?.replaceAll('`', '')
  if (format) parameter.schema = { ...parameter.schema, format }
}

/** Fills in a parameter, unless its field shows a value. OpenAPI Explorer then refuses to send a request without it. */
function fillIn(name, value) {
  for (const { elementId, parameters } of operations)
    for (const parameter of parameters.filter((one) => one.name === name)) {
      const field = `api-request[element-id="${elementId}"] [data-pname="${name}"]`
      if (explorer.shadowRoot.querySelector(field)?.value) continue
      const { description = '', required } = parameter
      if (!required) parameter.description = `${description} Only this page requires a value.`
      parameter.required = true
      parameter.schema.default = value
    }
}

form.onsubmit = async (event) => {
  event.preventDefault()
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ [input.name]: input.value.trim() })
  const request = { method: 'POST', headers, body }
  output.value = 'Logging in…'
  const { token, message } = await fetchJson(issuer.path.slice(1), request)
  const { securitySchemes } = explorer.resolvedSpec
  const { apiKeyId, finalKeyValue } = securitySchemes.find(({ scheme }) => scheme === 'bearer')
  if (token) await explorer.setAuthenticationConfiguration(apiKeyId, { token })
  setTimeout(showRequests)
  output.value = token ? 'Logged in' : message + (finalKeyValue ? ' (the former token stays)' : '')
}

/** @returns the JSON of the response; without one, its `message` says what happened */
const fetchJson = (path, request) =>
  fetch(path, request)
    .then(async (response) => {
      const json = await response.json().catch(() => {}) // a page of a proxy
      return { message: `unexpected response: HTTP ${response.status}`, ...json }
    })
    .catch((error) => error)

// On a narrow screen, OpenAPI Explorer opens an operation only at a click, and makes its title light.
new MutationObserver(() => {
  showRequests()
  for (const summary of explorer.shadowRoot.querySelectorAll('summary')) {
    summary.tabIndex = 0
    summary.role = 'link'
    summary.style.background = 'none'
    summary.onkeyup = ({ key }) => key === 'Enter' && summary.click()
  }
}).observe(explorer.shadowRoot, { childList: true, subtree: true })

// What page.css cannot reach: it has no ::part().
const styles = new CSSStyleSheet()
styles.replaceSync(`
  :host :focus-visible { outline: 2px solid; outline-offset: -2px }
  .tab-buttons { height: auto; flex-wrap: wrap }
  @media (max-width: 767.98px) {
    .body { flex-direction: column }
    .nav-bar { display: flex; width: auto; height: 30% }
    .main-content { padding: 8px }
    td { display: block; width: auto !important }
    .param-name, .param-type { text-align: left }
    .operations-root { display: flex; flex-direction: column }
    #overview { order: 1 }
    pre { padding: 2.5em 8px 8px !important }
    .token { line-break: auto !important }
  }
`)
explorer.shadowRoot.adoptedStyleSheets.push(styles)
for (const name of ['api-response', 'syntax-highlighter'])
  customElements.get(name).elementStyles.push(styles)

explorer.hideComponents = explorer.hideServerSelection = true
removeEventListener('resize', explorer.handleResize) // another layout would lose what somebody has typed
let width = innerWidth
addEventListener('resize', () => {
  if (innerWidth !== width) explorer.shadowRoot.activeElement?.scrollIntoView()
  width = innerWidth
})
const contract = await fetchJson('openapi.json')
if (contract.openapi) {
  await explorer.loadSpec(contract)
  setTimeout(() => input.focus()) // after OpenAPI Explorer has taken the focus
  button.disabled = false
  output.value = ''
} else {
  explorer.remove()
  output.value = `The contract does not load: ${contract.message}`
}
