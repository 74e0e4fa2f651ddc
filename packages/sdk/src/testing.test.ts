import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { failure } from '../test/far-end.ts'
import { answers } from './generated/answers.ts'
import * as sdk from './index.ts'
import { PagePromise } from './page.ts'
import { connectionLost, exampleBody, problem, type TestAnswers, type TestRequest, testFetch } from './testing.ts'

function clientOf(answers?: TestAnswers) {
	const fetch = testFetch(answers)
	return { remit: new sdk.Remit({ apiKey: 'rmt_test', baseUrl: 'https://remit.test', fetch, maxRetries: 0 }), fetch }
}

function collectGarbage() {
	setFlagsFromString('--expose-gc')
	runInNewContext('gc')()
}

type Example = { id?: string; data?: { id?: string } }
const kindOf = (id: string) => id.split('_')[0]

function read(response: Response): Response {
	void response.text()
	return response
}

describe('testFetch', () => {
	test('answers each operation with the example of the contract', async () => {
		const { remit } = clientOf()
		expect(await remit.companies.get('cmp_1')).toEqual({ ...exampleBody('companies.get').data, id: 'cmp_1' })
		expect((await remit.invoices.create({ currency: 'EUR' })).id).toMatch(/^inv_/)
		expect((await remit.invoices.list()).data.length).toBeGreaterThan(0)
		expect(new TextDecoder().decode(await remit.invoices.pdf('inv_1'))).toMatch(/^%PDF/)
		const { response } = await remit.companies.get('cmp_1').withResponse()
		expect([response.status, response.requestId, response.headers.get('etag')]).toEqual([200, 'req_test0000', '"1"'])
	})

	test('gives the record that was asked for, and ids of the right kind', async () => {
		const { remit } = clientOf()
		expect(await remit.syncs.pause('syn_1')).toMatchObject({ id: 'syn_1' })
		expect(await remit.syncs.errors.get('syn_1', 'rer_1')).toMatchObject({ id: 'rer_1' })
		expect(await remit.syncs.cancel('syn_1')).toMatchObject({ id: exampleBody('syncs.runs.get').data.id })
		expect(await remit.webhooks.endpoints.test('whe_1')).toMatchObject({ id: exampleBody('webhooks.deliveries.get').data.id })
		const created = Object.entries(answers).flatMap(([operation, { body }]) => {
			const { id, data } = Object(body) as Example
			const read = answers[operation.replace(/\.create$/, '.get')]?.body as Example | undefined
			return id && !data && read?.data?.id ? [[operation, kindOf(id), kindOf(read.data.id)]] : []
		})
		expect(created.length).toBeGreaterThan(8)
		for (const [operation, kind, expected] of created) expect([operation, kind]).toEqual([operation, expected])
	})

	test('gives every list an end', async () => {
		const { remit } = clientOf({ 'search.list': exampleBody('search.list') })
		const lists = Object.entries(answers).flatMap(([operation, { path }]) => {
			const [name = '', ...resources] = operation.split('.').reverse()
			const resource = resources.reduceRight<object>((found, next) => Reflect.get(found, next), remit)
			const ids = (path.match(/\{\w+\}/g) ?? []).map(() => 'id_1')
			const call = (): sdk.PagePromise<unknown> => Reflect.apply(Reflect.get(resource, name), resource, [...ids, { limit: 1 }])
			return call() instanceof PagePromise ? [{ operation, call }] : []
		})
		expect(lists.length).toBeGreaterThan(30)
		for (const { operation, call } of lists)
			expect([operation, (await call().toArray({ limit: 9 })).length]).toEqual([operation, 1])
		expect(exampleBody('contacts.list').meta).toMatchObject({ total: 1, hasMore: false, nextCursor: null })
	})

	test('tells a path without parameters from one with', async () => {
		const { remit, fetch } = clientOf()
		await remit.invoices.preview({ currency: 'EUR' })
		await remit.invoices.clientLink.create('inv_1')
		await remit.webhooks.events.get('syncs')
		expect(fetch.requests.map(({ operation, path }) => [operation, path])).toEqual([
			['invoices.preview', {}],
			['invoices.clientLink.create', { id: 'inv_1' }],
			['webhooks.events.get', { id: 'syncs' }],
		])
	})

	test('gives the answers of a test, and keeps the calls', async () => {
		const company = exampleBody('companies.get').data
		const { remit, fetch } = clientOf({
			'companies.get': ({ path }) => ({ data: { ...company, id: path.id as string, name: 'Acme', version: 7 } }),
			'companies.list': { data: [], meta: { total: 0 } as never },
		})
		expect(await remit.companies.get('cmp_7')).toMatchObject({ id: 'cmp_7', name: 'Acme' })
		expect((await remit.companies.get('cmp_7').withResponse()).response.headers.get('etag')).toBe('"7"')
		expect((await remit.companies.list({ search: 'ac me' })).data).toEqual([])
		const last = fetch.requests.at(-1) as TestRequest
		expect([last.operation, last.query.get('search'), last.headers.get('authorization')]).toEqual([
			'companies.list',
			'ac me',
			'Bearer rmt_test',
		])
		await remit.companies.update('cmp_7', { name: 'Other' })
		expect(fetch.requests.at(-1)).toMatchObject({ operation: 'companies.update', path: { id: 'cmp_7' }, body: { name: 'Other' } })
	})

	test('gives the answers of an array in turn, and the last one from then on', async () => {
		const { data: company } = exampleBody('companies.get')
		const { remit, fetch } = clientOf({
			'companies.get': [problem('unavailable'), connectionLost(), ({ path }) => ({ data: { ...company, name: `${path.id}` } })],
			'companies.list': [
				{ data: [company], meta: { ...exampleBody('companies.list').meta, hasMore: true, nextCursor: 'next' } },
				Promise.resolve({ ...exampleBody('companies.list'), data: [] }),
			],
		})
		expect(await remit.companies.get('cmp_1', { maxRetries: 2 })).toMatchObject({ name: 'cmp_1' })
		expect(await remit.companies.get('cmp_2')).toMatchObject({ name: 'cmp_2' })
		expect(await remit.companies.list().toArray({ limit: 9 })).toEqual([company])
		expect(fetch.requests).toHaveLength(6)
		expect(() => testFetch({ 'companies.get': [] })).toThrow('companies.get has an empty array of answers')
	})

	test('gives nothing for the version that the caller has', async () => {
		const { remit } = clientOf({ 'deals.get': { data: { ...exampleBody('deals.get').data, version: 4 } } })
		expect(await remit.companies.get('cmp_1', { ifNoneMatch: 1 })).toBeUndefined()
		expect(await remit.companies.get('cmp_1', { ifNoneMatch: 2 })).toMatchObject({ version: 1 })
		expect(await remit.deals.get('dl_1', { ifNoneMatch: '"3", W/"4"' })).toBeUndefined()
		expect(await remit.deals.get('dl_1', { ifNoneMatch: 1 })).toMatchObject({ version: 4 })
	})

	test('gives the bytes of a file, and its name', async () => {
		const bytes = Uint8Array.of(0x25, 0xff, 0x00)
		const { remit } = clientOf({ 'invoices.public.pdf': bytes })
		const { data, response } = await remit.invoices.pdf('inv_1').withResponse()
		expect(data).toEqual(exampleBody('invoices.pdf'))
		expect(response.headers.get('content-disposition')).toBe('inline; filename="example.pdf"')
		expect(await remit.invoices.public.pdf('token-1')).toEqual(bytes)
	})

	test('takes a Response that is no instance of its own Response, such as that of jsdom', async () => {
		const foreign = { clone: () => Response.json(exampleBody('companies.get')) } as Response
		const { remit } = clientOf({ 'companies.get': foreign })
		expect(await remit.companies.get('cmp_1')).toEqual(exampleBody('companies.get').data)
	})

	test('answers with the example where a function only looks at the call', async () => {
		const seen: string[] = []
		const { remit } = clientOf({ 'companies.get': (({ path }: TestRequest) => void seen.push(`${path.id}`)) as never })
		expect(await remit.companies.get('cmp_1')).toMatchObject({ id: 'cmp_1', version: 1 })
		expect(seen).toEqual(['cmp_1'])
	})

	test('rejects as the server does, any number of times', async () => {
		const { remit } = clientOf({
			'companies.update': problem<'companies.update'>('invalid_vat_id', { detail: 'No such number.' }),
		})
		for (const _ of [1, 2]) {
			const error = await failure(remit.companies.update('cmp_1', { vatId: 'DE1' }))
			expect(error).toBeInstanceOf(sdk.UnprocessableError)
			expect(error).toMatchObject({ code: 'invalid_vat_id', detail: 'No such number.', status: 422 })
			expect(sdk.failed<'companies.update'>(error)).toBe(true)
		}
	})

	test('fails as any request can fail, and with the status that a test names', async () => {
		const { remit } = clientOf({
			'companies.get': problem('unavailable'),
			'companies.create': problem<'companies.create'>('outcome_unknown'),
			'companies.update': problem<'companies.update'>('internal_error', { status: 599 }),
			'invoices.send': problem<'invoices.send'>('email_delivery_failed'),
			// @ts-expect-error a company has no e-mail
			'companies.list': problem<'companies.list'>('email_delivery_failed'),
		})
		const calls = [remit.companies.get('cmp_1'), remit.companies.create({ name: 'A' }), remit.companies.update('cmp_1', {})]
		const found = await Promise.all([...calls, remit.invoices.send('inv_1', { to: 'ada@acme.example' })].map(failure))
		expect(found.map((error) => [error.constructor, (error as sdk.ApiError).status])).toEqual([
			[sdk.ServerError, 503],
			[sdk.ServerError, 503],
			[sdk.ServerError, 599],
			[sdk.ServerError, 502],
		])
	})

	test('says with 429 and 503 when to come back, as the server does', async () => {
		const { remit } = clientOf({
			'companies.get': problem('rate_limited'),
			'companies.list': problem('rate_limited', { headers: { 'Retry-After': '9' } }),
			'invoices.get': problem('unavailable'),
		})
		expect(await failure(remit.companies.get('cmp_1'))).toMatchObject({ name: 'RateLimitError', retryAfter: 1 })
		expect(await failure(remit.companies.list())).toMatchObject({ retryAfter: 9 })
		expect(((await failure(remit.invoices.get('inv_1'))) as sdk.ApiError).headers.get('Retry-After')).toBe('1')
	})

	test('rejects what is no operation, and no code', async () => {
		const { fetch } = clientOf()
		await expect(fetch('https://remit.test/api/nothing')).rejects.toThrow('there is no operation GET /api/nothing')
		expect(() => problem('nope' as never)).toThrow('there is no error code nope')
		expect(() => problem('constructor' as never)).toThrow('there is no error code constructor')
		expect(() => exampleBody('companies.got' as never)).toThrow('there is no operation companies.got')
		expect(() => exampleBody('toString' as never)).toThrow('there is no operation toString')
		expect(() => testFetch({ 'company.get': {} } as TestAnswers)).toThrow('there is no operation company.get')
	})

	test.each<[string, sdk.RemitOptions & { answer?: TestAnswers['companies.get'] }, RegExp]>([
		['an answer that throws', { answer: () => expect.fail('no such call') }, /^no such call$/],
		['an answer that rejects', { answer: () => Promise.reject(Object.freeze(new Error('frozen'))) }, /^Error: frozen$/],
		['an answer that is no JSON', { answer: { data: 1n } as never }, /BigInt/],
		['an answer that was read already', { answer: read(Response.json({ data: {} })) }, /clone/],
		[
			'an address that is none',
			{ use: [({ init }, next) => next({ url: 'https://remit.test/api/x', init })] },
			/no operation GET/,
		],
		['a request that is none', { use: [({ init }, next) => next({ url: 'nowhere', init })] }, /URL/],
	])('reports %s at once, as it is', async (_, { answer, use = [] }, message) => {
		const fetch = testFetch(answer && { 'companies.get': answer })
		const remit = new sdk.Remit({ apiKey: 'rmt_test', baseUrl: 'https://remit.test', fetch, use })
		const error = await failure(remit.companies.get('cmp_1'))
		expect(error).not.toBeInstanceOf(sdk.RemitError)
		expect(error.message).toMatch(message)
		expect(fetch.requests.length).toBeLessThan(2)
	})

	test('reports a body that is no JSON, with the very error of the answer', async () => {
		const thrown = new TypeError('fetch failed')
		const { remit, fetch } = clientOf({
			'companies.get': () => {
				throw thrown
			},
		})
		expect(await failure(remit.companies.get('cmp_1', { maxRetries: 2 }))).toBe(thrown)
		const send = fetch('https://remit.test/api/companies', { method: 'POST', body: '{' })
		await expect(send).rejects.toThrow('the body of companies.create is no JSON')
	})

	test('loses the connection where a test says so', async () => {
		const { remit, fetch } = clientOf({ 'companies.get': connectionLost(), 'companies.list': () => connectionLost() })
		expect(await failure(remit.companies.get('cmp_1', { maxRetries: 1 }))).toMatchObject({ name: 'ConnectionError', attempts: 2 })
		expect(await failure(remit.companies.list())).toBeInstanceOf(sdk.ConnectionError)
		expect(fetch.requests).toHaveLength(3)
	})

	test('finds an operation below the path of the base URL, and breaks off in time', async () => {
		const fetch = testFetch({ 'companies.list': () => new Promise(() => {}) })
		const remit = new sdk.Remit({ apiKey: 'rmt_test', baseUrl: 'https://remit.test/billing/remit/', fetch, maxRetries: 0 })
		expect(await remit.companies.get('cmp_1')).toMatchObject({ name: exampleBody('companies.get').data.name })
		expect(await failure(remit.companies.list({}, { timeout: 20 }))).toBeInstanceOf(sdk.TimeoutError)
		const [first] = fetch.requests
		if (first?.operation === 'companies.update') expectTypeOf(first.body.name).toEqualTypeOf<string | undefined>()
	})

	test('breaks off when the caller does, though Node has collected its garbage meanwhile', async () => {
		const { remit } = clientOf({ 'companies.get': () => new Promise(() => {}) })
		const controller = new AbortController()
		const call = failure(remit.companies.get('cmp_1', { signal: controller.signal, timeout: 5_000 }))
		await new Promise(setImmediate)
		collectGarbage()
		controller.abort(new Error('changed my mind'))
		expect(await call).toBe(controller.signal.reason)
	})

	test('gives every operation something of its own to change', () => {
		exampleBody('companies.get').data.name = 'Changed'
		expect(exampleBody('companies.get').data.name).not.toBe('Changed')
	})

	test('has the types of its operations', () => {
		const answers: TestAnswers = {
			// @ts-expect-error a company is no text
			'companies.get': { data: 'Acme' },
			'invoices.create': ({ body }) => {
				expectTypeOf(body?.currency).toEqualTypeOf<string | undefined>()
				return exampleBody('invoices.create')
			},
		}
		expect(Object.keys(answers)).toHaveLength(2)
	})
})
