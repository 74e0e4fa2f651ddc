// The rival that shows what is physically left: as limit.ts, with JSON made by SQLite, transactions that share a commit, and headers
// as a flat list.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parse } from 'node:querystring'
import { Rows } from './rows.ts'
import { JsonRows } from './rows-json.ts'

const file = process.argv[2] as string
const keys = new Rows(file)
const rows = new JsonRows(file)

const server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => {
	const organizationId = keys.organizationOf(req.headers.authorization)
	if (organizationId === undefined) return send(res, 401, Buffer.from('{"error":"unauthorized"}'))
	const url = req.url as string
	const mark = url.indexOf('?')
	const path = mark === -1 ? url : url.slice(0, mark)
	const query = () => parse(mark === -1 ? '' : url.slice(mark + 1))
	if (req.method === 'POST' && path === '/api/invoices') return create(organizationId, req, res)
	const body = path.startsWith('/api/invoices/')
		? rows.invoice(organizationId, path.slice('/api/invoices/'.length))
		: path === '/api/invoices'
			? rows.invoices(organizationId, query())
			: path === '/api/companies'
				? rows.companies(organizationId, query())
				: undefined
	if (body) send(res, 200, body)
	else send(res, 404, Buffer.from('{"error":"not found"}'))
})

function create(organizationId: string, req: IncomingMessage, res: ServerResponse): void {
	let text = ''
	req.setEncoding('utf8')
	req.on('data', (chunk: string) => {
		text += chunk
	})
	req.on('end', () =>
		rows.create(organizationId, JSON.parse(text), (created) => send(res, 201, Buffer.from(JSON.stringify(created)))),
	)
}

function send(res: ServerResponse, status: number, body: Buffer): void {
	res.writeHead(status, ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(body.length)])
	res.end(body)
}

server.listen(0, '127.0.0.1', () => {
	console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
