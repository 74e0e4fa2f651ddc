import { inspect } from 'node:util'
import { afterEach, describe, expect, test, vi } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { json } from '../test/answering-server.ts'
import { apiKey, failure, farEnd } from '../test/far-end.ts'
import { type Middleware, Remit, RemitError } from './index.ts'

const far = farEnd()

afterEach(() => {
	vi.unstubAllEnvs()
	vi.unstubAllGlobals()
})

describe('a call', () => {
	test('sends method, path, key and JSON', async () => {
		far.answer = json(201, { id: 'inv_1', invoiceNumber: 'INV-0001' })
		expect(await far.client().invoices.create({ currency: 'EUR' })).toEqual({ id: 'inv_1', invoiceNumber: 'INV-0001' })
		expect(far.arrived).toHaveLength(1)
		expect(far.arrived[0]).toMatchObject({
			method: 'POST',
			url: '/api/invoices',
			body: '{"currency":"EUR"}',
			headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' },
		})
	})

	test('without a body sends none, and no content type', async () => {
		far.answer = json(201, { id: 'inv_1', invoiceNumber: 'INV-0001' })
		await far.client().invoices.create()
		expect(far.arrived[0]?.body).toBe('')
		expect(far.arrived[0]?.headers).not.toHaveProperty('content-type')
	})

	test('uses the method and path of its operation, and gives its result', async () => {
		const remit = far.client()
		far.answer = json(200, { data: { id: 'inv_1' } })
		expect(await remit.invoices.get('inv_1')).toEqual({ id: 'inv_1' })
		expect(await remit.invoices.preview({ currency: 'EUR' })).toEqual({ id: 'inv_1' })
		far.answer = json(200, { ok: true, stageAdvanced: 'paid' })
		expect(await remit.invoices.update('inv_1', { status: 'paid' })).toEqual({ ok: true, stageAdvanced: 'paid' })
		far.answer = json(200, { ok: true })
		expect(await remit.companies.delete('cmp_1')).toEqual({ ok: true })
		expect(far.arrived.map(({ method, url }) => `${method} ${url}`)).toEqual([
			'GET /api/invoices/inv_1',
			'POST /api/invoices/preview',
			'PATCH /api/invoices/inv_1',
			'DELETE /api/companies/cmp_1',
		])
	})

	test('sends what its options say', async () => {
		const remit = far.client({ headers: { 'X-Team': 'a', 'X-Kept': 'yes' } })
		await remit.invoices.create({}, { idempotencyKey: 'key-1', requestId: 'trace-0001', headers: { 'x-team': 'b' } })
		expect(far.arrived[0]?.headers).toMatchObject({
			'idempotency-key': 'key-1',
			'x-request-id': 'trace-0001',
			'x-team': 'b',
			'x-kept': 'yes',
		})
	})

	/** What the fetch of a runtime is asked: Next keeps the answers of GETs, unless it is told not to. */
	const askedCaches = async () => {
		const asked: unknown[] = []
		const note: Middleware = (request, next) => {
			asked.push(request.init.cache)
			return next(request)
		}
		const remit = far.client({ use: [note] })
		await remit.invoices.get('inv_1')
		await remit.invoices.create()
		await remit.companies.delete('cmp_1')
		return asked
	}

	test('is not for a cache', async () => {
		expect(await askedCaches()).toEqual(['no-store', 'no-store', 'no-store'])
	})

	test.each([
		[
			'throws at the option, as of older Workers',
			class {
				constructor(_url: string, { cache }: RequestInit) {
					if (cache) throw new Error("The 'cache' field on 'RequestInitializerDict' is not implemented.")
				}
			},
		],
		['does not know the option, as of React Native, where fetch adds a parameter for it', class {}],
		['is missing', undefined],
	])('says nothing of a cache where Request %s', async (_what, request) => {
		vi.stubGlobal('Request', request)
		expect(await askedCaches()).toEqual([undefined, undefined, undefined])
	})

	test.each([
		[3, '"3"'],
		['3', '"3"'],
		['"3-overdue"', '"3-overdue"'],
		['W/"3"', 'W/"3"'],
		['*', '*'],
	])('sends ifMatch %s as the entity tag %s', async (ifMatch, sent) => {
		await far.client().invoices.update('inv_1', {}, { ifMatch })
		expect(far.arrived[0]?.headers['if-match']).toBe(sent)
	})

	test.each([
		[{ idempotencyKey: 'order 🧾' }, 'idempotency-key'],
		[{ requestId: '東京' }, 'x-request-id'],
		[{ headers: { 'X-Job': 'a → b' } }, 'x-job'],
	])('with %j says which header cannot contain which character, and is not sent', async (options, header) => {
		const error = await failure(far.client().invoices.create({}, options))
		expect(error).toBeInstanceOf(RemitError)
		expect(error.message).toMatch(new RegExp(`^the header ${header} cannot contain "(🧾|東|→)"$`, 'i'))
		expect(far.arrived).toEqual([])
	})

	test('of a session has no key: the browser sends the cookie', async () => {
		far.answer = json(200, { data: { id: 'cmp_1' } })
		await new Remit({ session: true, baseUrl: far.url }).companies.get('cmp_1')
		expect(far.arrived[0]?.headers).not.toHaveProperty('authorization')
		expect(() => new Remit({ session: true, apiKey, baseUrl: far.url })).toThrow('exclude each other')
	})

	test('encodes the query and leaves undefined out', async () => {
		far.answer = json(200, { data: [], meta: { total: 0, limit: 10, offset: 0 } })
		await far.client().companies.list({ search: 'Müller & Söhne +1%', sortBy: undefined, limit: 10 })
		const url = new URL(far.arrived[0]?.url ?? '', far.url)
		expect(Object.fromEntries(url.searchParams)).toEqual({ search: 'Müller & Söhne +1%', limit: '10' })
	})

	test('can give status, headers and request id', async () => {
		far.answer = json(200, { data: { id: 'inv_1' } }, { ETag: '"7"', 'X-Request-Id': 'req_1' })
		const { data, response } = await far.client().invoices.get('inv_1').withResponse()
		expect(data).toEqual({ id: 'inv_1' })
		expect(response).toMatchObject({ status: 200, requestId: 'req_1' })
		expect(response.headers.get('etag')).toBe('"7"')
	})

	test('that cannot be written as JSON is not sent', async () => {
		const error = await failure(far.client().invoices.create({ taxRate: 1n as unknown as number }))
		expect(error).toBeInstanceOf(RemitError)
		expect(error.message).toMatch(/BigInt/)
		expect(far.arrived).toEqual([])
	})

	test('goes through the fetch of the options', async () => {
		const fetch = async (url: string, init: RequestInit) => Response.json({ data: { url, method: init.method } })
		const remit = new Remit({ apiKey, baseUrl: 'https://remit.example', fetch })
		expect(await remit.invoices.get('inv_1')).toEqual({ url: 'https://remit.example/api/invoices/inv_1', method: 'GET' })
	})
})

describe('a path parameter', () => {
	test.each(['', '.', '..', '../companies', 'a/b', '..\\x', undefined, null, 7, ['a', 'b']])(
		'%j is rejected before sending',
		async (id) => {
			const remit = far.client()
			for (const call of [
				remit.invoices.get(id as string),
				remit.invoices.delete(id as string),
				remit.companies.update(id as string, {}),
			]) {
				expect(await failure(call)).toBeInstanceOf(RemitError)
			}
			expect(far.arrived).toEqual([])
		},
	)

	test.each(['a?b=c', 'a#b', '%2e%2e', '...', 'ü', 'a b', '{id}', "$&$'"])('%j stays one segment', async (id) => {
		await far.client().invoices.get(id)
		expect(far.arrived[0]?.url).toBe(`/api/invoices/${encodeURIComponent(id)}`)
	})

	test('that is not well-formed Unicode is rejected', async () => {
		expect(await failure(far.client().invoices.get('\ud800'))).toBeInstanceOf(RemitError)
	})
})

describe('the base URL', () => {
	test.each(['', '/', '/prefix', '/prefix/', '/a%20b//'])('may end in %j', async (end) => {
		await far.client({ baseUrl: far.url + end }).invoices.get('inv_1')
		expect(far.arrived[0]?.url).toBe(`${end.replace(/\/+$/, '')}/api/invoices/inv_1`)
	})

	test.each([
		[undefined, /baseUrl is missing/],
		['', /baseUrl is missing/],
		['remit.example', /http or https URL/],
		['/api', /http or https URL/],
		['ftp://remit.example', /http or https URL/],
		['https://user:hunter2@remit.example', /user name or password/],
		['https://remit.example/?a=1', /query or fragment/],
	])('%s is rejected', (baseUrl, message) => {
		const make = () => new Remit({ apiKey, baseUrl: baseUrl as string })
		expect(make).toThrow(RemitError)
		expect(make).toThrow(message)
		expect(make).not.toThrow(/hunter2/)
	})
})

describe('the environment', () => {
	test('has the key and the address, unless the program names others', async () => {
		vi.stubEnv('REMIT_API_KEY', 'rmt_ofTheEnvironment')
		vi.stubEnv('REMIT_BASE_URL', far.url)
		await new Remit().invoices.get('inv_1')
		await new Remit({ apiKey }).invoices.get('inv_1')
		expect(far.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer rmt_ofTheEnvironment', `Bearer ${apiKey}`])
		await new Remit({ session: true }).invoices.get('inv_1')
		expect(far.arrived[2]?.headers).not.toHaveProperty('authorization')
	})

	test('is a page: a key must be allowed, and a session needs no key', async () => {
		vi.stubGlobal('window', globalThis)
		vi.stubGlobal('document', {})
		try {
			expect(() => far.client()).toThrow('dangerouslyAllowBrowser')
			const remit = far.client({ dangerouslyAllowBrowser: true })
			expect(() => new Remit({ session: true, baseUrl: far.url })).not.toThrow()
			await remit.invoices.get('inv_1')
			expect(far.arrived[0]?.headers['user-agent']).not.toContain('remit-sdk')
		} finally {
			vi.unstubAllGlobals()
		}
	})

	test('learns the version of the client by User-Agent', async () => {
		await far.client().invoices.get('inv_1')
		expect(far.arrived[0]?.headers['user-agent']).toBe(`remit-sdk/${manifest.version}`)
	})
})

describe('the API key', () => {
	test.each([undefined, '', 7])('%j is rejected', (key) => {
		expect(() => far.client({ apiKey: key as string })).toThrow(/apiKey is missing/)
	})

	test('with a line break is rejected without being repeated', () => {
		const make = () => far.client({ apiKey: `${apiKey}\n` })
		expect(make).toThrow(/line break/)
		expect(make).not.toThrow(/SECRET/)
	})

	test('is shown neither by the client nor by its errors', async () => {
		const remit = far.client()
		far.answer = json(500, {})
		const shown = [remit, remit.invoices, await failure(remit.invoices.get('inv_1'))]
		shown.push(await failure(far.client({ baseUrl: 'http://127.0.0.1:9' }).invoices.get('inv_1')))
		for (const value of shown) {
			const texts = [inspect(value, { depth: 10, showHidden: true }), JSON.stringify(value), String((value as Error).stack)]
			for (const printed of texts) expect(printed).not.toContain('SECRET')
		}
	})
})
