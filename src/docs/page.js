// The page at /docs, in the browser: Swagger UI over the contract, and a log-in that fills in the token.
const form = document.querySelector('form')
const status = document.querySelector('output')
const button = document.querySelector('button')

const ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null, // else the contract's address would go to validator.swagger.io
  onComplete: () => (button.disabled = false),
})

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void logInAs(form.elements.email.value)
})

async function logInAs(email) {
  try {
    ui.preauthorizeApiKey('bearer', await tokenOf(email))
    say(`Logged in as ${email}`, 'logged-in')
  } catch (error) {
    say(error.message, 'refused')
  }
}

/** The token of the user with this email. @throws Error what the service says against it */
async function tokenOf(email) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch('login', {
    method: 'POST',
    headers,
    body: JSON.stringify({ email }),
  })
  const { token, message } = await response.json()
  if (!response.ok) throw new Error(message)
  return token
}

function say(text, kind) {
  status.textContent = text
  status.className = kind
}
