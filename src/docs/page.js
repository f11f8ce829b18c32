// The page at /docs, in the browser: a log-in for OpenAPI Explorer, and values that work at the first click.
const explorer = document.querySelector('openapi-explorer')
const form = document.querySelector('form')
let operations

explorer.addEventListener('spec-loaded', ({ detail: { info, tags } }) => {
  document.title = document.querySelector('h1').textContent = info.title
  operations = tags.flatMap(({ paths }) => paths)
  fillIn('limit', 100) // OpenAPI Explorer takes minutes to show a list of 20 MB
  for (const operation of operations) {
    operation.parameters = operation.parameters.filter(({ name }) => name !== 'Accept') // it shows only JSON
    if (innerWidth < 768)
      for (const response of Object.values(operation.responses)) delete response.headers // as wide as a letter
    if (!operation.requestBody || !operation.security?.length) continue
    const text = JSON.stringify(operation.requestBody)
    operation.requestBody = JSON.parse(text.replaceAll('@', `-${Date.now()}@`)) // an email may be taken
  }
})

explorer.shadowRoot.addEventListener('request', ({ target, detail: { request } }) => {
  const body = target.querySelector('.request-body-container textarea')
  if (body) request.body = body.value // as typed: OpenAPI Explorer repairs JSON
})

explorer.shadowRoot.addEventListener('response', ({ target, detail: { response } }) => {
  if (response?.status === 201) fillIn('id', JSON.parse(response.body).id)
  target.querySelector('.btn-execute').focus() // it was disabled
})

function fillIn(name, value) {
  for (const { parameters } of operations)
    for (const parameter of parameters.filter((one) => one.name === name))
      parameter.schema.default = value
}

form.onsubmit = async (event) => {
  event.preventDefault()
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify({ email: form.elements.email.value.trim() })
  const { token, message } = await fetch('login', { method: 'POST', headers, body })
    .then((response) => response.json())
    .catch((error) => error)
  await explorer.setAuthenticationConfiguration('bearer', { token })
  document.querySelector('output').textContent = token ? 'Logged in' : message
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

explorer.hideComponents = explorer.hideServerSelection = true
await explorer.loadSpec('openapi.json')
setTimeout(() => form.elements.email.focus()) // after OpenAPI Explorer has taken the focus
form.querySelector('button').disabled = false
