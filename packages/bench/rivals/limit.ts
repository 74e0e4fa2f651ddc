// The rival that shows the limit of Node with one commit a request: node:http, routing by hand, prepared statements and
// JSON.stringify, without validation.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parse } from 'node:querystring'
import { Rows } from './rows.ts'

const rows = new Rows(process.argv[2] as string)

const server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => {
	const organizationId = rows.organizationOf(req.headers.authorization)
	if (organizationId === undefined) return send(res, 401, { error: 'unauthorized' })
	const url = req.url as string
	const mark = url.indexOf('?')
	const path = mark === -1 ? url : url.slice(0, mark)
	const query = () => parse(mark === -1 ? '' : url.slice(mark + 1))
	if (req.method === 'POST' && path === '/api/invoices') return create(organizationId, req, res)
	if (path.startsWith('/api/invoices/')) return get(organizationId, path.slice('/api/invoices/'.length), res)
	if (path === '/api/invoices') return send(res, 200, { data: rows.invoices(organizationId, query()) })
	if (path === '/api/companies') return send(res, 200, rows.companies(organizationId, query()))
	send(res, 404, { error: 'not found' })
})

function get(organizationId: string, id: string, res: ServerResponse): void {
	const data = rows.invoice(organizationId, id)
	if (data) send(res, 200, { data })
	else send(res, 404, { error: 'not found' })
}

function create(organizationId: string, req: IncomingMessage, res: ServerResponse): void {
	let text = ''
	req.setEncoding('utf8')
	req.on('data', (chunk: string) => {
		text += chunk
	})
	req.on('end', () => send(res, 201, rows.create(organizationId, JSON.parse(text))))
}

function send(res: ServerResponse, status: number, body: unknown): void {
	const text = JSON.stringify(body)
	res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(text) })
	res.end(text)
}

server.listen(0, '127.0.0.1', () => {
	console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
