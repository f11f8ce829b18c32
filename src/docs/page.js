// The page at /docs, in the browser: shows the contract in Swagger UI, logs in and fills in the token.
const form = document.querySelector('form')
const status = document.querySelector('output')
const button = document.querySelector('button')
let ui
let hasToken = false

void show()

async function show() {
  const contract = JSON.parse(await (await fetch('openapi.json')).text(), unlessOptional)
  // The service is at the URL of this page, even if a proxy adds a path prefix.
  const url = new URL('.', location.href).pathname.replace(/(.)\/$/, '$1')
  ui = SwaggerUIBundle({
    spec: { ...contract, servers: [{ url }] },
    dom_id: '#reference',
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    validatorUrl: null, // by default, the page sends the URL of the contract to validator.swagger.io
    responseInterceptor: noteRefusal,
    onComplete: () => (button.disabled = false),
  })
}

/** Swagger UI would send the examples of optional parameters with every request. */
function unlessOptional(_, part) {
  return part?.in && !part.required ? { ...part, example: undefined } : part
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void logInAs(form.elements.email.value)
})

async function logInAs(email) {
  button.disabled = true
  if (hasToken) ui.authActions.logout(['bearer'])
  hasToken = false
  try {
    ui.preauthorizeApiKey('bearer', await tokenOf(email))
    hasToken = true
    say(`Logged in as ${email}`, 'logged-in')
  } catch (error) {
    say(error.message, 'refused')
  }
  button.disabled = false
}

/** Gets a token for the user with this email. @throws Error with the message of the service */
async function tokenOf(email) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch('login', {
    method: 'POST',
    headers,
    body: JSON.stringify({ email }),
  })
  const { token, message = `${response.status} ${response.statusText}` } = await response
    .json()
    .catch(() => ({}))
  if (!response.ok) throw new Error(message)
  return token
}

function noteRefusal(response) {
  if (response.status === 401 && hasToken && !response.url.endsWith('/login')) {
    say('The token is no longer valid. Log in again.', 'refused')
  }
  return response
}

function say(text, kind) {
  status.textContent = text
  status.className = kind
}
