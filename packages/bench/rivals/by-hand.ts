// The rival that a developer writes by hand: Express 5, prepared statements, `res.json`, without validation. The costly defaults
// that the comparison does not need (ETag, X-Powered-By, the extended query parser) are off.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadExpress } from '../server-modules.ts'
import { Rows } from './rows.ts'

const express = loadExpress()

const rows = new Rows(process.argv[2] as string)
const app = express()
app.disable('etag')
app.disable('x-powered-by')
app.set('query parser', 'simple')

app.use((req, res, next) => {
	const organizationId = rows.organizationOf(req.headers.authorization)
	if (organizationId === undefined) return void res.status(401).json({ error: 'unauthorized' })
	res.locals.organizationId = organizationId
	next()
})

app.get('/api/invoices/:id', (req, res) => {
	const data = rows.invoice(res.locals.organizationId, req.params.id as string)
	if (data) res.json({ data })
	else res.status(404).json({ error: 'not found' })
})

app.get('/api/invoices', (req, res) => {
	res.json({ data: rows.invoices(res.locals.organizationId, req.query) })
})

app.get('/api/companies', (req, res) => {
	res.json(rows.companies(res.locals.organizationId, req.query))
})

app.post('/api/invoices', express.json(), (req, res) => {
	res.status(201).json(rows.create(res.locals.organizationId, req.body))
})

const server = createServer({ keepAliveTimeout: 65_000 }, app)
server.listen(0, '127.0.0.1', () => {
	console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
