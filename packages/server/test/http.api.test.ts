// The edge of the server: routing, bytes that are no request, internal failures, and its shutdown.
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { version } from '../src/platform/contract/document.ts'
import { operations } from '../src/platform/contract/routes.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import { startTestServer, type TestServer } from './harness.ts'

let server: TestServer
/** A second server on the same database, whose log is kept. */
let logged: RunningServer & { lines: Record<string, unknown>[] }
beforeAll(async () => {
	server = await startTestServer()
	logged = await startLogged()
})
afterAll(async () => {
	await logged.close()
	await server.close()
})

async function startLogged() {
	const lines: Record<string, unknown>[] = []
	const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
	const config = {
		...readConfig({ PORT: '0', INVOICING_RATE_LIMIT: '0', INTEGRATION_RATE_LIMIT: '0', NODE_ENV: 'production' }),
		...server.settings,
	}
	const db = await openDatabase(config, log)
	return { ...(await startServer({ db, config, log })), lines }
}

/** Runs SQL past the server. */
async function execute({ settings }: TestServer, sql: string): Promise<void> {
	if (settings.DATABASE_URL) {
		const client = new pg.Client(settings.DATABASE_URL)
		await client.connect()
		await client.query(sql).finally(() => client.end())
		return
	}
	const file = new Sqlite(join(settings.DATA_DIR as string, 'remit.db'))
	file.exec(sql)
	file.close()
}

/** Runs `work` while a table that the operation needs is missing. */
async function without(table: string, work: () => Promise<void>): Promise<void> {
	await execute(server, `alter table ${table} rename to ${table}_gone`)
	try {
		await work()
	} finally {
		await execute(server, `alter table ${table}_gone rename to ${table}`)
	}
}

interface Received {
	readonly status: number
	readonly headers: Headers
	// biome-ignore lint/suspicious/noExplicitAny: a problem, which `expectProblem` checks.
	readonly body: any
}

/** Sends bytes as they are, and reads the answer until the server closes the connection. */
function sendBytes(bytes: string, to = server.url): Promise<Received> {
	const { hostname, port } = new URL(to)
	return new Promise((resolve, reject) => {
		const socket = connect(Number(port), hostname, () => socket.write(bytes))
		let text = ''
		socket.setEncoding('utf8').on('data', (data) => {
			text += data
		})
		socket.on('error', reject).on('close', () => {
			const [head = '', ...rest] = text.split('\r\n\r\n')
			const [first = '', ...lines] = head.split('\r\n')
			const headers = new Headers(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]))
			const body = rest.join('\r\n\r\n')
			const json = headers.get('content-type')?.includes('json') && body
			resolve({ status: Number(first.split(' ')[1]), headers, body: json ? JSON.parse(body) : body })
		})
	})
}

/** A request whose path `fetch` would normalize. */
const askPath = (path: string, method = 'GET') =>
	sendBytes(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\nConnection: close\r\n\r\n`)

const fetchProblem = async (url: string, init: RequestInit): Promise<Received> => {
	const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${server.key}`, ...init.headers } })
	return { status: response.status, headers: response.headers, body: await response.json() }
}

function expectProblem({ status, headers, body }: Received, expected: number, code: string): void {
	expect({ status, code: body.code }).toEqual({ status: expected, code })
	expect(headers.get('content-type')).toBe('application/problem+json')
	expect(headers.get('x-contract-version')).toBe(version)
	expect(body).toMatchObject({ status: expected, type: `urn:remit:problem:${code}`, requestId: headers.get('x-request-id') })
	expect(Object.keys(body)).toEqual(expect.arrayContaining(['title', 'detail', 'instance', 'requestId']))
	expect(JSON.stringify(body)).not.toMatch(/\.[jt]s:\d|node_modules|\bselect\b|\binsert into\b|sqlite|postgres|relation "/i)
}

describe('paths and methods', () => {
	it('answers /health and /ready without a key, HEAD too', async () => {
		for (const path of ['/health', '/ready']) {
			for (const method of ['GET', 'HEAD']) {
				const answer = await fetch(server.url + path, { method })
				expect(answer.status).toBe(200)
				expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
				expect(await answer.text()).toBe(method === 'GET' ? '{"ok":true}' : '')
			}
		}
	})

	it.each([
		['a path of nothing', '/'],
		['a path in between', '/api'],
		['a trailing slash', '/api/invoices/'],
		['a doubled slash', '/api//invoices'],
		['other capitals', '/API/invoices'],
		['a path too long', '/api/invoices/inv_1/more'],
		['dots between segments', '/api/invoices/../companies'],
		['an encoded literal', '/api/invoice%73'],
		['broken percent-encoding', '/api/invoices/%zz'],
		['percent-encoding that is not UTF-8', '/api/invoices/%ff'],
		['a path below health', '/health/deep'],
	])('answers 404 to %s', async (_name, path) => {
		const answer = await askPath(path)
		expectProblem(answer, 404, 'route_not_found')
		expect(answer.body.instance).toBe(path)
	})

	it.each(['/api/api/companies', '/api/api-keys', '/api/webhooks/endpoints'])(
		'says at %s that a base URL ends before /api',
		async (path) => {
			const { body } = await askPath(path)
			expect(body.detail).toBe(`There is no ${path}: the base URL of a client ends before /api.`)
		},
	)

	it.each(['..', '.', '%2e%2e', 'a%2Fb', '%00', 'a%20b', "x'--", '%F0%9F%98%80'])(
		'takes %s for an id, and refuses it',
		async (segment) => {
			for (const kind of ['invoices', 'companies']) {
				for (const method of ['GET', 'DELETE']) {
					const answer = await askPath(`/api/${kind}/${segment}`, method)
					expectProblem(answer, 400, 'invalid_request')
					expect(answer.body.errors).toEqual([expect.objectContaining({ parameter: 'id' })])
				}
			}
		},
	)

	it('asks the database once for all who ask /ready at once', async () => {
		const database = Promise.withResolvers<void>()
		const ready = vi.spyOn(server.db, 'ready').mockImplementation(() => database.promise)
		const asked = Array.from({ length: 50 }, () => fetch(`${server.url}/ready`))
		await expect.poll(() => ready.mock.calls.length).toBe(1)
		// These have been answered by then, so those before them have arrived.
		await Promise.all(Array.from({ length: 50 }, () => fetch(`${server.url}/health`)))
		database.resolve()
		expect((await Promise.all(asked)).every(({ ok }) => ok)).toBe(true)
		expect(ready.mock.calls.length).toBeLessThan(10)
		ready.mockRestore()
	})

	it.each(['/health', '/ready', '/openapi.json'])('answers 405 with Allow to a POST of %s', async (path) => {
		const refused = await server.ask('POST', path)
		expect(refused).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
		expect(refused.headers.get('allow')).toBe('GET, HEAD')
	})

	it('sends the contract compressed as the client takes it, and not again to a client that has it', async () => {
		const get = async (headers: Record<string, string>) => {
			const response = await fetch(`${server.url}/openapi.json`, { headers })
			return { status: response.status, headers: response.headers, text: await response.text() }
		}
		const plain = await get({ 'accept-encoding': 'identity' })
		expect(JSON.parse(plain.text).openapi).toBe('3.1.0')
		const tags = new Set([plain.headers.get('etag')])
		for (const encoding of ['br', 'gzip']) {
			const packed = await get({ 'accept-encoding': encoding })
			expect(packed.text).toBe(plain.text)
			expect(Object.fromEntries(packed.headers)).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' })
			expect(Number(packed.headers.get('content-length'))).toBeLessThan(plain.text.length / 6)
			const tag = packed.headers.get('etag') as string
			tags.add(tag)
			expect(await get({ 'accept-encoding': encoding, 'if-none-match': tag })).toMatchObject({ status: 304, text: '' })
			expect(await get({ 'accept-encoding': encoding, 'if-none-match': '"other"' })).toMatchObject({ status: 200 })
		}
		expect(tags.size).toBe(3)
		expect((await get({ 'accept-encoding': 'compress' })).headers.get('content-encoding')).toBeNull()
	})

	it('takes an encoded id for what it means, also when it reads as another path', async () => {
		const { body } = await server.ask('POST', '/api/invoices')
		const encoded = [...body.id].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
		expect((await askPath(`/api/invoices/${encoded}`)).body.data.id).toBe(body.id)
		for (const method of ['GET', 'DELETE']) {
			expectProblem(await askPath('/api/invoices/previe%77', method), 404, 'invoice_not_found')
		}
	})

	const byPath = Map.groupBy(operations, ({ path }) => path)
	it.each([...byPath])('answers 405 with Allow to the methods that %s lacks', async (path, operationsOfPath) => {
		const methods = new Set<string>(operationsOfPath.map(({ method }) => method))
		if (methods.has('GET')) methods.add('HEAD')
		for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
			if (methods.has(method)) continue
			const answer = await fetch(server.url + path.replace('{id}', 'x'), { method })
			expect(answer.status).toBe(405)
			expect(answer.headers.get('content-type')).toBe('application/problem+json')
			expect(new Set(answer.headers.get('allow')?.split(', '))).toEqual(methods)
		}
	})

	it('answers HEAD as GET, without the body', async () => {
		const { body } = await server.ask('POST', '/api/invoices')
		for (const path of ['/api/companies', `/api/invoices/${body.id}`, '/api/invoices/unknown', '/api/invoices?limit=0']) {
			const [get, head] = [await server.ask('GET', path), await server.ask('HEAD', path)]
			expect(head).toMatchObject({ status: get.status, text: '' })
			for (const name of ['content-type', 'etag']) expect(head.headers.get(name)).toBe(get.headers.get(name))
		}
	})
})

describe('the request id', () => {
	it('is the one that the caller sent, in the header, the problem and the log', async () => {
		const sent = 'trace-0123.ABC_xyz'
		const answer = await fetchProblem(`${logged.url}/api/invoices/unknown`, { headers: { 'x-request-id': sent } })
		expectProblem(answer, 404, 'invoice_not_found')
		expect(answer.body).toMatchObject({ requestId: sent, instance: '/api/invoices/unknown' })
		expect(logged.lines).toContainEqual(
			expect.objectContaining({ requestId: sent, operation: 'invoices.get', status: 404, ms: expect.any(Number) }),
		)
	})

	it.each(['short', 'x'.repeat(65), 'with space in it', 'quote"quote"', ''])('replaces %j', async (sent) => {
		const answer = await server.ask('GET', '/api/invoices', { headers: { 'x-request-id': sent } })
		expect(answer.headers.get('x-request-id')).toMatch(/^req_[A-Za-z0-9]{20}$/)
	})
})

describe('the log line of a request', () => {
	const id = 'logged-request'
	const lineAfter = async (path: string, init: RequestInit = {}) => {
		logged.lines.length = 0
		const answer = await fetch(logged.url + path, {
			...init,
			headers: { authorization: `Bearer ${server.key}`, 'x-request-id': id, ...init.headers },
		})
		await answer.arrayBuffer()
		const line = logged.lines.find(({ msg }) => msg === 'request')
		expect(line).toMatchObject({ level: 30, requestId: id, status: answer.status, ms: expect.any(Number) })
		return line
	}

	it('has the address, the method, the template of the path, the record, the organization and the key', async () => {
		const made = await lineAfter('/api/invoices', { method: 'POST' })
		const by = { address: '127.0.0.1', organization: server.organizationId, key: expect.stringMatching(/^key_/) }
		const invoices = { path: '/api/invoices', record: expect.stringMatching(/^inv_/) }
		expect(made).toMatchObject({ ...by, ...invoices, method: 'POST', operation: 'invoices.create', status: 201 })
		const head = await lineAfter(`/api/invoices/${made?.record}?limit=1`, { method: 'HEAD' })
		expect(head).toMatchObject({ ...by, method: 'HEAD', path: '/api/invoices/{id}', record: made?.record })
	})

	it('has the last four characters of a key that is refused, and no more of it', async () => {
		const authorization = `Bearer ${server.key.slice(0, -1)}_`
		const line = await lineAfter('/api/invoices', { headers: { authorization } })
		expect(line).toMatchObject({ status: 401, path: '/api/invoices', refusedKey: `${server.key.slice(-4, -1)}_` })
		expect(JSON.stringify(logged.lines)).not.toContain(server.key.slice(4, 20))
		for (const short of ['Bearer secret', 'Basic dXNlcjpwYXNzd29yZA=='])
			expect(await lineAfter('/api/invoices', { headers: { authorization: short } })).not.toHaveProperty('refusedKey')
	})

	it('has no token of a client link', async () => {
		for (const path of ['/view/invoice/the-token', '/api/invoices/public/the-token', '/nowhere/the-token']) {
			const line = await lineAfter(path, { headers: { authorization: '' } })
			expect(line?.status).toBeGreaterThanOrEqual(400)
			expect(JSON.stringify(logged.lines)).not.toContain('the-token')
		}
	})

	it('is JSON, and short, whatever a caller puts in the place of an id', async () => {
		const hostile = `"},\n{"level":60,"${'\u{1F600}'.repeat(60)}`
		const line = await lineAfter(`/api/invoices/${encodeURIComponent(hostile)}`)
		expect(line).toMatchObject({ status: 400, record: hostile.slice(0, 100) })
	})
})

describe('bytes that are no request', () => {
	it.each([
		['no HTTP', 'NONSENSE\r\n\r\n'],
		['another version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
		['a header without a colon', 'GET /health HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n'],
		['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
		['a length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n'],
		['no Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'],
	])('are answered 400: %s', async (_name, bytes) => {
		expectProblem(await sendBytes(bytes), 400, 'invalid_request')
	})

	it('are answered 431 when the headers are larger than 16 KiB', async () => {
		const start = 'GET /health HTTP/1.1\r\nHost: x\r\n'
		expectProblem(await sendBytes(`${start}X-Large: ${'x'.repeat(17_000)}\r\n\r\n`), 431, 'headers_too_large')
		expectProblem(await sendBytes(`GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`), 431, 'headers_too_large')
		expect((await sendBytes(`${start}X-Large: ${'x'.repeat(15_000)}\r\nConnection: close\r\n\r\n`)).status).toBe(200)
	})

	it('are answered with a problem when they expect what the server does not do', async () => {
		const answer = await sendBytes('GET /health HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n')
		expect(answer.headers.get('content-type')).toMatch(/json/)
		expect(answer.headers.get('x-request-id')).toBeTruthy()
	})

	it('leave nothing when a body stops halfway', async () => {
		const before = (await server.ask('GET', '/api/companies')).body.meta.total
		const { hostname, port } = new URL(server.url)
		const socket = connect(Number(port), hostname)
		const head = `POST /api/companies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n`
		await new Promise<void>((sent) => socket.write(`${head}Content-Length: 100\r\n\r\n{"name":"Half"}`, () => sent()))
		await new Promise<void>((closed) => socket.on('close', () => closed()).destroy())
		expect((await server.ask('GET', '/api/companies')).body.meta.total).toBe(before)
	})

	it('are waited for when a body comes in chunks: its end may come late, and its connection be cut', async () => {
		const { hostname, port } = new URL(server.url)
		const begin = async (id: string) => {
			const socket = connect(Number(port), hostname)
			const lines = [`Host: x`, `Authorization: Bearer ${server.key}`, `X-Request-Id: ${id}`, 'Transfer-Encoding: chunked']
			socket.write(`POST /api/invoices/preview HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
			await server.ask('GET', '/api/companies')
			return socket
		}
		const lineOf = (id: string) => server.logged.find((line) => line.includes(id)) ?? ''
		const late = await begin('late-end-of-the-body')
		late.write('0\r\n\r\n')
		const [answer] = await once(late, 'data')
		expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
		late.destroy()
		const cut = await begin('cut-before-the-body')
		cut.destroy()
		await expect.poll(() => lineOf('cut-before-the-body')).toContain('"status":400')
	})
})

describe('a failure inside', () => {
	const json = { 'content-type': 'application/json' }

	it('answers 500 without details, logs the cause under the request id and stores nothing of the request', async () => {
		const { body } = await server.ask('POST', '/api/invoices')
		const path = `${logged.url}/api/invoices/${body.id}`
		await without('invoice_tombstones', async () => {
			const answer = await fetchProblem(path, { method: 'DELETE' })
			expectProblem(answer, 500, 'internal_error')
			const line = logged.lines.find((found) => found.requestId === answer.body.requestId && found.err)
			expect(line).toMatchObject({ level: 50, err: { message: expect.stringContaining('invoice_tombstones') } })
			expect(JSON.stringify(logged.lines)).not.toContain(server.key)
		})
		expect((await server.ask('GET', `/api/invoices/${body.id}`)).body.data.version).toBe(1)
		expect((await server.ask('DELETE', `/api/invoices/${body.id}`)).status).toBe(200)
	})

	it('undoes what the request had written when its last step fails', async () => {
		const dealId = await server.newDeal({ stage: 'won' })
		const { body } = await server.ask('POST', '/api/invoices', { body: { dealId, totalCents: 5 } })
		const path = `/api/invoices/${body.id}`
		await without('pipelines', async () => {
			const init = { method: 'PATCH', headers: json, body: '{"status":"paid"}' }
			expectProblem(await fetchProblem(logged.url + path, init), 500, 'internal_error')
		})
		expect((await server.ask('GET', path)).body.data).toMatchObject({ status: 'draft', paidDate: null, version: 1 })
		expect((await server.ask('PATCH', path, { body: { status: 'paid' } })).body.stageAdvanced).toBe('paid')
	})

	it('is not kept for an Idempotency-Key: the same request works once the cause is gone', async () => {
		const headers = { ...json, 'idempotency-key': 'fails at first' }
		const init = { method: 'POST', headers, body: '{"invoiceNumber":"OWN-1"}' }
		await without('invoice_tombstones', async () => {
			expectProblem(await fetchProblem(`${logged.url}/api/invoices`, init), 500, 'internal_error')
		})
		const again = await server.ask('POST', '/api/invoices', { headers, body: init.body })
		expect(again).toMatchObject({ status: 201, body: { invoiceNumber: 'OWN-1' } })
		expect(again.headers.has('idempotent-replayed')).toBe(false)
	})

	it('makes /ready answer 503 while /health still answers 200', async () => {
		const lost = await startTestServer()
		await lost.db.close()
		expectProblem(await fetchProblem(`${lost.url}/ready`, {}), 503, 'unavailable')
		expect((await fetch(`${lost.url}/health`)).status).toBe(200)
		await lost.close().catch(() => {})
	})
})
