// Create, preview, PATCH and PUT reject the same invalid invoices, name the place of the mistake, and store nothing.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, type AskOptions, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { rawClient } from '../../../test/raw-client.ts'
import type { ProblemError } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
let witness: string
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())
beforeEach(async () => {
	tenant = await server.newTenant()
	witness = (await tenant.ask('POST', '/api/invoices', { body: { notes: 'witness' } })).body.id
})

/** After every test the only invoice is the witness, unchanged, and no number has been used up. */
afterEach(async () => {
	const { data } = (await tenant.ask('GET', '/api/invoices')).body
	expect(data).toMatchObject([{ id: witness, notes: 'witness', invoiceNumber: 'INV-0001', status: 'draft', version: 1 }])
	expect((await tenant.ask('POST', '/api/invoices')).body.invoiceNumber).toBe('INV-0002')
	expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

const writes = () =>
	[
		['POST', '/api/invoices'],
		['POST', '/api/invoices/preview'],
		['PATCH', `/api/invoices/${witness}`],
		['PUT', `/api/invoices/${witness}`],
	] as const

/** Sends a body to every operation that takes an invoice. */
async function everywhere(options: AskOptions, check: (answer: Answer) => void) {
	for (const [method, path] of writes()) check(await tenant.ask(method, path, options))
}

const is = (status: number, code: string) => (answer: Answer) => expect(answer).toMatchObject({ status, body: { code } })

/** Expects every error to name this place, and one of them this rule. */
const at =
	(place: string, rule?: string, kind: 'pointer' | 'parameter' = 'pointer') =>
	(answer: Answer) => {
		is(400, 'invalid_request')(answer)
		const errors: ProblemError[] = answer.body.errors
		expect([...new Set(errors.map((error) => error[kind]))]).toEqual([place])
		if (rule) expect(errors.map(({ code }) => code)).toContain(rule)
	}

const nul = '"a\\u0000b"'
const texts = (field: string, ...values: string[]) => [field, 'format', values] as const

describe('a field', () => {
	it.each([
		['totalCents', 'type', ['12.5', '"100"', 'true', 'null', '{}']],
		['totalCents', 'maximum', ['9007199254740993', '1000000000000']],
		['subtotalCents', 'minimum', ['-9007199254740993', '-1000000000000']],
		['taxCents', undefined, ['1e400', '-1e400']],
		['taxRate', 'format', ['9.97512', '0.00001', '1e-7', '-1', '100.0001']],
		['taxRate', 'type', ['"19"', 'null']],
		['taxRate', undefined, ['1e400']],
		['currency', 'format', ['"ABC"', '"usd"', '"US"', '""', '"USDT"', '"XXX"', '"XAU"', '"CLF"']],
		['currency', 'type', ['null', '840']],
		['dueDate', 'format', ['"2026-02-30"', '"2026-03-31T10:00"', '"2026-03-31T10:00:00"', '"2201-01-01"', '"1969-12-31"', '""']],
		['dueDate', 'format', ['"2200-12-31T23:59:59-01:00"', '"1970-01-01T00:00:00+01:00"']],
		['dueDate', 'minimum', ['1774915200', '-1', '0', '99999999999']],
		['dueDate', 'maximum', ['7289654400000', '9007199254740993']],
		['dueDate', undefined, ['1774915200000.5', '{}', 'true']],
		['issuedDate', 'minimum', ['1774915200']],
		['paidDate', 'format', ['"31.03.2026"']],
		['status', 'enum', ['"Paid"', '""', 'null', '"open"']],
		['invoiceNumber', 'minLength', ['""', '" "']],
		['invoiceNumber', 'type', ['5', 'null']],
		['invoiceNumber', 'maxLength', [`"${'9'.repeat(65)}"`]],
		['dealId', 'pattern', ['""', nul, '"a b"']],
		['companyId', 'type', ['5']],
		['notes', 'maxLength', [`"${'x'.repeat(10_001)}"`]],
		['notes', 'type', ['["x"]', '5']],
		texts('notes', nul, '"\\ud800"', '"\\udc00\\ud800"'),
		texts('invoiceNumber', nul, '"A\\nB"', '"\\ud800"'),
		texts('paymentMethod', nul, '"a\\r\\nb"', '"\\ud800"'),
		texts('paymentReference', nul, '"a\\u2028b"', '"\\u0085"'),
		['showRateBreakdown', 'type', ['"true"', '1', 'null']],
		['lineItems', 'type', ['{}', 'null', '"x"']],
		['lineItems', 'maxItems', [`[${Array(1001).fill('{}')}]`]],
	] as const)('%s is refused (%s)', async (field, rule, values) => {
		for (const value of values) await everywhere({ body: `{"${field}":${value}}` }, at(`/${field}`, rule))
	})

	it.each([
		['', 'type', ['null', '5', '[]']],
		['/quantity', undefined, ['"1e3"', '"1,5"', '""', '1e-7', '1e400', 'null', '"1234567890123"']],
		['/unitPriceCents', undefined, ['12.5', '"12.1234567"', '9007199254740993', 'null']],
		['/discountPercent', undefined, ['100.5', '"-1"', '"5 %"']],
		['/discountCents', undefined, ['1.5', '"5"']],
		['/kind', 'enum', ['"other"', 'null']],
		['/description', 'format', [nul]],
		['/amountCents', 'unknown_field', ['5']],
		['/position', 'unknown_field', ['1']],
		['/taxes', 'maxItems', [`[${Array(11).fill('{"label":"T","percent":1}')}]`]],
		['/taxes/0/percent', undefined, ['"9.97512"', '-1']],
		['/metadata/a', undefined, ['5', '"\\ud800"', nul]],
		['/metadata', 'maxProperties', [`{${Array.from({ length: 21 }, (_, index) => `"k${index}":""`)}}`]],
	] as const)('of a line is refused: %s (%s)', async (place, rule, values) => {
		const wrap = (text: string, name: string) =>
			name === '0' ? `[${text}]` : `{${name === 'percent' ? '"label":"T",' : ''}"${name}":${text}}`
		for (const value of values) {
			const line = place.split('/').slice(1).toReversed().reduce(wrap, value)
			await everywhere({ body: `{"lineItems":[${line}]}` }, at(`/lineItems/0${place}`, rule))
		}
	})

	it('that is needed is named: a tax has a label', async () => {
		await everywhere({ body: '{"lineItems":[{"taxes":[{"percent":1}]}]}' }, at('/lineItems/0/taxes/0/label', 'required'))
	})

	it.each(['id', 'organizationId', 'createdAt', 'updatedAt', 'version', 'sentAt', 'amountPaidCents', 'locale', 'taxRounding'])(
		'%s is not for a caller to write',
		async (field) => everywhere({ body: { [field]: 1 } }, at(`/${field}`, 'unknown_field')),
	)

	it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', 'a/b', '~'])(
		'named %j is unknown, and changes no prototype',
		async (name) => {
			const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
			await everywhere({ body: `{"${name}":{"polluted":1}}` }, at(pointer, 'unknown_field'))
			await everywhere({ body: `{"lineItems":[{"${name}":1}]}` }, at(`/lineItems/0${pointer}`, 'unknown_field'))
		},
	)

	it('is named with all others that are wrong', async () => {
		const { body } = await tenant.ask('POST', '/api/invoices', {
			body: { currency: 'ABC', dueDate: 5, lineItems: [{ unit: 1 }], x: 1 },
		})
		const pointers = body.errors.map(({ pointer }: { pointer: string }) => pointer)
		expect(pointers.sort()).toEqual(['/currency', '/dueDate', '/lineItems/0/unit', '/x'])
	})

	it('of seconds instead of milliseconds gets a hint', async () => {
		const { body } = await tenant.ask('POST', '/api/invoices', { body: { dueDate: 1_774_915_200 } })
		expect(body.errors[0].detail).toMatch(/seconds.*milliseconds/)
	})
})

describe('a body', () => {
	it.each(['[]', '[{}]', '"x"', 'null', '1', 'true'])('of %s is no object', async (body) => {
		await everywhere({ body }, at('', 'type'))
	})

	it.each([
		' ',
		'{',
		'{}}',
		"{'notes':''}",
		'{"notes":"a",}',
		'{"totalCents":NaN}',
		'{"notes":"\n"}',
		'{} {}',
		'undefined',
		'// {}',
	])('of %j is no JSON', async (body) => everywhere({ body }, is(400, 'invalid_json')))

	it.each([
		['a stray byte', [0xff]],
		['half a character', [0xc3]],
		['an overlong slash', [0xc0, 0xaf]],
		['a surrogate', [0xed, 0xa0, 0x80]],
	])('with %s is no UTF-8', async (_, bytes) => {
		const body = Buffer.concat([Buffer.from('{"notes":"'), Buffer.from(bytes), Buffer.from('"}')])
		await everywhere({ body }, is(400, 'invalid_json'))
	})

	it.each([
		'text/plain',
		'text/json',
		'application/jsonp',
		'application/merge-patch+json',
		'application/x-www-form-urlencoded',
		'multipart/form-data; boundary=x',
		'application/json; charset=utf-16',
		'application/json; charset=latin1',
		'application/json; charset="utf-16"; version=1',
		'application/json; charset=utf-8; charset=utf-16',
		'application/json; version=1; Charset=UTF-32',
		"application/json; charset='utf-16'",
		'application/json; charset="\'utf-16\'"',
		'json',
	])('as %s is refused', async (type) => {
		await everywhere({ body: '{}', headers: { 'content-type': type } }, is(415, 'unsupported_media_type'))
	})

	it('without a content type is refused', async () => {
		const headers = { authorization: `Bearer ${tenant.key}` }
		const response = await fetch(`${server.url}/api/invoices`, { method: 'POST', headers, body: new Uint8Array([123, 125]) })
		expect([response.status, await response.json()]).toMatchObject([415, { code: 'unsupported_media_type' }])
	})

	it.each([
		'APPLICATION/JSON',
		'application/json;charset=utf8',
		'application/json; charset=UTF8',
		'application/json; charset=us-ascii',
		'application/json; charset="utf-8"',
		"application/json; charset='utf-8'",
		"application/json; charset='UTF8'; version=1",
		'application/json; charset=',
		'application/json; charset=""',
		'application/json; charset=; version=1',
		'application/json; version=1; charset=utf-8',
		'application/json; odata.metadata=minimal; q="a;b"',
		'application/json;',
		'application/json ; charset=utf-8 ;',
	])('as %s is taken', async (type) => {
		const answer = await tenant.ask('PATCH', `/api/invoices/${witness}`, { body: '{}', headers: { 'content-type': type } })
		expect(answer).toMatchObject({ status: 200, body: { ok: true } })
	})

	it.each<Record<string, string>>([{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }])(
		'in no chunk at all counts as none, with %j',
		async (headers) => {
			const { ask, close } = rawClient(server.url, tenant.key)
			const send = async (method: string, path: string) => {
				const { status, text } = await ask(method, path, undefined, { ...headers, 'transfer-encoding': 'chunked' })
				return [status, JSON.parse(text).code]
			}
			expect(await send('POST', '/api/invoices/preview')).toEqual([200, undefined])
			expect(await send('PATCH', `/api/invoices/${witness}`)).toEqual([400, 'body_required'])
			close()
		},
	)

	it.each([{}, { 'content-type': 'text/plain' }])('in chunks is refused with %j', async (type) => {
		const headers = { authorization: `Bearer ${tenant.key}`, ...type }
		const body = new Blob(['{}']).stream()
		const response = await fetch(`${server.url}/api/invoices`, { method: 'POST', headers, body, duplex: 'half' })
		expect([response.status, await response.json()]).toMatchObject([415, { code: 'unsupported_media_type' }])
	})

	it('of 1 MB is refused, also when gzip makes it small', async () => {
		const tooLarge = is(413, 'payload_too_large')
		await everywhere({ body: { notes: 'x'.repeat(1_000_000) } }, tooLarge)
		const bomb = gzipSync(Buffer.alloc(100_000_000, 0x20))
		expect(bomb.length).toBeLessThan(512 * 1024)
		await everywhere({ body: bomb, headers: { 'content-encoding': 'gzip' } }, tooLarge)
	})

	it('whose compression is unknown, or is not the one that its header names, is refused', async () => {
		const whole = gzipSync('{"notes":"a"}')
		for (const body of [whole.subarray(0, 20), Buffer.from('{}')]) {
			await everywhere({ body, headers: { 'content-encoding': 'gzip' } }, is(400, 'invalid_json'))
		}
		await everywhere({ body: whole, headers: { 'content-encoding': 'compress' } }, is(415, 'unsupported_media_type'))
	})

	it.each([
		['an array where text belongs', (deep: string) => `{"notes":${deep}}`, '/notes'],
		['a line item', (deep: string) => `{"lineItems":${deep}}`, '/lineItems/0'],
		['metadata', (deep: string) => `{"lineItems":[{"metadata":{"a":${deep}}}]}`, '/lineItems/0/metadata/a'],
		['an unknown field', (deep: string) => `{"x":${deep}}`, '/x'],
	])('nested deep in %s is refused, and as a whole when nested 100 000 deep', async (_, around, pointer) => {
		const nested = (levels: number) => around('['.repeat(levels) + ']'.repeat(levels))
		await everywhere({ body: nested(2_000) }, at(pointer))
		await everywhere({ body: nested(100_000) }, at(''))
	})
})

describe('a parameter', () => {
	it.each([
		['limit', 'maximum', ['limit=101', 'limit=2147483648']],
		['limit', 'minimum', ['limit=0', 'limit=-1']],
		['limit', 'type', ['limit=abc', 'limit=1.5', 'limit=', 'limit', 'limit=1&limit=2', 'limit=null']],
		['limit', undefined, ['limit=1e400']],
		['offset', undefined, ['offset=1e400']],
		['offset', 'minimum', ['offset=-1']],
		['offset', 'maximum', ['offset=1000000001']],
		['offset', 'type', ['offset=x', 'offset=']],
		['status', 'enum', ['status=Paid', 'status=paid%00', 'status=paid,Sent', 'status=paid,', 'status=paid&status=open']],
		['status', 'type', ['status=']],
		['status[]', 'unknown_parameter', ['status[]=paid']],
		['dealId', undefined, ['dealId=a%00b', 'dealId=%ff', 'dealId=a&dealId=b', 'dealId=a%20b']],
		['companyId', 'maxLength', [`companyId=${'c'.repeat(65)}`]],
		['staus', 'unknown_parameter', ['staus=paid', 'limit=5&staus=paid']],
		['LIMIT', 'unknown_parameter', ['limit=5&LIMIT=5']],
		['__proto__', 'unknown_parameter', ['__proto__=1']],
		['__proto__[polluted]', 'unknown_parameter', ['__proto__[polluted]=1']],
		['constructor', 'unknown_parameter', ['constructor=1']],
	] as const)('of the query is refused: %s (%s)', async (parameter, rule, searches) => {
		for (const search of searches) at(parameter, rule, 'parameter')(await tenant.ask('GET', `/api/invoices?${search}`))
	})

	it.each([
		['limit[]=1', 'limit[]'],
		['limit[]=1&limit[]=2', 'limit[]'],
		['limit%5B%5D=1', 'limit[]'],
		['limit[0]=1', 'limit[0]'],
		['limit[a][b]=1', 'limit[a][b]'],
		['limit=1&limit[]=2', 'limit[]'],
		['limit[=1', 'limit['],
		['status[0]=paid', 'status[0]'],
		['status[][a]=paid', 'status[][a]'],
		['status/0=paid', 'status/0'],
		['a/1=2', 'a/1'],
		['a~1b=2', 'a~1b'],
		['a%20b=1', 'a b'],
		['%E6%9D%B1=1', '東'],
		['a%ff=1', 'a\ufffd'],
	])('of the query that is unknown is named as it was sent: %s', async (search, parameter) => {
		const { status, body } = await tenant.ask('GET', `/api/invoices?${search}`)
		const detail = 'is not a query parameter of this operation'
		expect([status, body.errors]).toEqual([400, [{ parameter, code: 'unknown_parameter', detail }]])
		expect(body.detail).toBe(`${parameter} ${detail}.`)
	})

	it('of the query that is unknown hides no other mistake', async () => {
		const { body } = await tenant.ask('GET', '/api/invoices?limit[]=1&staus=paid&limit=0')
		expect(body.errors).toMatchObject([{ parameter: 'limit[]' }, { parameter: 'staus' }, { parameter: 'limit', code: 'minimum' }])
	})

	it.each([
		['search=%E0%A4', 'search'],
		['search=a%ff', 'search'],
		['limit=5&search=%ED%A0%80', 'search'],
		['search=fine&deal%49d=%C3', 'dealId'],
		['search=a&search=%ff', 'search'],
		['staus=%ff&limit=0', 'staus'],
	])('of the query whose bytes are no UTF-8 is refused: %s', async (search, parameter) => {
		const { status, body } = await tenant.ask('GET', `/api/invoices?${search}`)
		const detail = 'must be percent-encoded UTF-8'
		expect([status, body.errors]).toEqual([400, [{ parameter, code: 'format', detail }]])
	})

	it.each(['%EF%BF%BD', '100%', '%zz', 'M%C3%BCller+%26', '%F0%9F%98%80'])(
		'of the query with other text is taken: %s',
		async (text) => {
			expect((await tenant.ask('GET', `/api/invoices?search=${text}`)).status).toBe(200)
		},
	)

	it.each(['limit', 'dealId', 'issuedFrom'])('of the query that is there twice is said to be: %s', async (parameter) => {
		const { body } = await tenant.ask('GET', `/api/invoices?${parameter}=1&${parameter}=2`)
		expect(body.errors).toEqual([{ parameter, code: 'type', detail: 'must be given once' }])
	})

	it.each([
		['POST', 'idempotency-key', 'k'.repeat(256)],
		['PATCH', 'if-match', `"${'1'.repeat(200)}"`],
		['DELETE', 'if-match', `"${'1'.repeat(200)}"`],
		['GET', 'if-none-match', `"${'1'.repeat(200)}"`],
	])('of %s, header %s: %s is refused', async (method, header, value) => {
		const path = method === 'POST' ? '/api/invoices' : `/api/invoices/${witness}`
		const { status, body } = await tenant.ask(method, path, {
			headers: { [header]: value },
			body: method === 'POST' || method === 'PATCH' ? {} : undefined,
		})
		expect([status, body?.errors?.[0].parameter.toLowerCase()]).toEqual([400, header])
	})
})

it('a request that says twice how long it is creates nothing', async () => {
	const { hostname, port } = new URL(server.url)
	const head = `POST /api/invoices HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\n`
	const socket = connect(Number(port), hostname)
	socket.end(`${head}Content-Length: 2\r\nContent-Length: 27\r\n\r\n{}`)
	expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_request"/s)
})

it('Several mistakes are counted in the detail, and the first is named there', async () => {
	await everywhere({ body: { notes: 5, paymentTerms: 7 } }, ({ body }) => {
		const [first] = body.errors
		expect(body.errors).toHaveLength(2)
		expect(body.detail).toBe(`The request has 2 mistakes, the first: ${first.pointer} ${first.detail}.`)
	})
	await everywhere({ body: { notes: 5 } }, ({ body }) => expect(body.detail).toMatch(/^\/notes must be /))
})

it('An amount that is no integer is one mistake, and its detail says so', async () => {
	const details = ({ body }: Answer) => (body.errors as ProblemError[]).map(({ pointer, detail }) => `${pointer} ${detail}`)
	await everywhere({ body: { totalCents: 1.5 } }, (answer) => expect(details(answer)).toEqual(['/totalCents must be integer']))
	const lineItems = [{ description: 'Work', unitPriceCents: 1.5, quantity: 1 }]
	await everywhere({ body: { lineItems } }, (answer) =>
		expect(details(answer)).toEqual(['/lineItems/0/unitPriceCents must be integer or string']),
	)
})
