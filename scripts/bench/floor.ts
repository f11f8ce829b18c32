// The floor: Node's HTTP server with a fixed body. Nothing on Node can cost less.
import http from 'node:http'

const body = JSON.stringify({
  id: '665f1c2e8b3f4a0012d4c001',
  name: 'Ada',
  email: 'ada@example.com',
})

http
  .createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })
    response.end(body)
  })
  .listen(Number(process.env['PORT']), '127.0.0.1')
