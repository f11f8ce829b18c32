// The page at /docs, in the browser: a form that gets a token for OpenAPI Explorer, and values that work at the first
// click.
const explorer = document.querySelector('openapi-explorer')
const form = document.querySelector('form')
const output = document.querySelector('output')
const button = form.querySelector('button')
let operations
/** What issues a token: it needs none, its body has one field, and its response `token`. */
let issuer
let field

explorer.addEventListener('spec-loaded', ({ detail: { info, tags } }) => {
  document.title = document.querySelector('h1').textContent = info.title
  operations = tags.flatMap(({ paths }) => paths)
  issuer = operations.find(
    ({ security, responses }) => !security?.length && propertiesOf(responses[200]).token,
  )
  explorer.hideAuthentication = Boolean(issuer)
  if (issuer) showForm()
  else form.remove()
  fillIn('limit', 100) // OpenAPI Explorer takes minutes to show a list of 20 MB
  for (const operation of operations) {
    operation.parameters = operation.parameters.filter(({ name }) => name !== 'Accept') // it shows only JSON
    if (innerWidth < 768)
      for (const response of Object.values(operation.responses)) delete response.headers // one letter wide
    if (!operation.requestBody || !operation.security?.length) continue
    const text = JSON.stringify(operation.requestBody)
    operation.requestBody = JSON.parse(text.replaceAll('@', `-${Date.now()}@`)) // an address may be taken
  }
})

explorer.shadowRoot.addEventListener('request', ({ target, detail: { request } }) => {
  const body = target.querySelector('.request-body-container textarea')
  if (body) request.body = body.value // as typed: OpenAPI Explorer repairs JSON
})

explorer.shadowRoot.addEventListener('response', ({ target, detail: { request, response } }) => {
  if (response?.status === 201) fillIn('id', JSON.parse(response.body).id)
  if (response?.status === 401 && request.headers.has('Authorization')) output.value = 'Logged out'
  const button = target.querySelector('.btn-execute')
  button.focus() // it was disabled
  bringUp(button)
})

explorer.shadowRoot.addEventListener('click', ({ target }) => bringUp(target))

const propertiesOf = (part) => part?.content?.['application/json']?.schema?.properties ?? {}

function showForm() {
  field = Object.keys(propertiesOf(issuer.requestBody))[0]
  form.querySelector('span').textContent = field[0].toUpperCase() + field.slice(1)
  form.elements[0].name = form.elements[0].autocomplete = field
}

/** Scrolls to a button, or the title of an operation, when OpenAPI Explorer has rendered what is below it. */
const bringUp = (element) =>
  setTimeout(() => element.closest('summary, .btn-execute')?.scrollIntoView())

/** Fills in a parameter. OpenAPI Explorer then refuses to send a request without it. */
function fillIn(name, value) {
  for (const parameter of operations.flatMap(({ parameters }) => parameters))
    if (parameter.name === name) {
      parameter.required = true
      parameter.schema.default = value
    }
}

form.onsubmit = async (event) => {
  event.preventDefault()
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ [field]: form.elements[0].value.trim() })
  const { token, message } = await fetch(issuer.path.slice(1), { method: 'POST', headers, body })
    .then((response) => response.json())
    .catch((error) => error)
  await explorer.setAuthenticationConfiguration('bearer', { token })
  output.value = token ? 'Logged in' : message
}

// On a narrow screen, OpenAPI Explorer opens an operation only at a click, and makes its title light.
new MutationObserver(() => {
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
  .body :focus-visible, ::part(btn--resp):focus-visible, ::part(btn-copy):focus-visible { outline: 2px solid; outline-offset: -2px }
  .tab-btn { margin-right: 8px; font-size: 13px }
`)
explorer.shadowRoot.adoptedStyleSheets.push(styles)

explorer.hideComponents = explorer.hideServerSelection = true
await explorer.loadSpec('openapi.json')
setTimeout(() => form.elements[0].focus()) // after OpenAPI Explorer has taken the focus
button.disabled = false
output.value = ''
