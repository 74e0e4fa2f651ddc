// The list of invoices as callers use it: filters, orders, what it shows, and what it refuses.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import type { InvoiceInput } from '../../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
let companyId: string
let dealId: string
const ids: Record<string, string> = {}
const march = Date.UTC(2026, 2, 1)

const make = async (invoiceNumber: string, invoice: InvoiceInput = {}) => {
	server.clock.now += 1_000
	ids[invoiceNumber] = (await tenant.remit.invoices.create({ invoiceNumber, ...invoice })).id
}

beforeAll(async () => {
	server = await startTestServer()
	server.clock.now = march
	// UTC-5 in March: a day there begins at 05:00 UTC.
	tenant = await server.newTenant({ timeZone: 'America/New_York' })
	companyId = (await tenant.remit.companies.create({ name: 'Acme' })).id
	dealId = await tenant.newDeal({ companyId })
	await make('INV-9', { dueDate: '2026-03-10', totalCents: 300, currency: 'EUR' })
	await make('INV-10', { dueDate: '2026-03-11T03:00:00Z', totalCents: 100, companyId, status: 'sent' })
	await make('INV-2', { dueDate: '2026-03-11T06:00:00Z', totalCents: 200, dealId, companyId })
	await make('A-100', { totalCents: -50, status: 'cancelled' })
	await make('INV-0100', { totalCents: 100, status: 'paid', paidDate: '2026-02-01', companyId })
})
afterAll(() => server.close())

const list = async (query: string, of = tenant) => of.ask('GET', `/api/invoices${query}`)
const numbersOf = async (query: string) => {
	const { status, body } = await list(query)
	expect([query, status]).toEqual([query, 200])
	return body.data.map(({ invoiceNumber }: { invoiceNumber: string }) => invoiceNumber)
}
const nextOf = (headers: Headers) => /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]

it('without parameters is {data} of whole invoices, newest first, with no header of its own', async () => {
	const { text, headers } = await list('')
	const whole = []
	for (const number of ['INV-0100', 'A-100', 'INV-2', 'INV-10', 'INV-9'])
		whole.push((await tenant.ask('GET', `/api/invoices/${ids[number]}`)).text.slice('{"data":'.length, -1))
	expect(text).toBe(`{"data":[${whole.join(',')}]}`)
	expect([headers.get('x-total-count'), headers.get('link')]).toEqual([null, null])
})

describe('orders', () => {
	it.each([
		['sortOrder=asc', ['INV-9', 'INV-10', 'INV-2', 'A-100', 'INV-0100']],
		['sortBy=createdAt&sortOrder=desc', ['INV-0100', 'A-100', 'INV-2', 'INV-10', 'INV-9']],
		['sortBy=invoiceNumber&sortOrder=asc', ['A-100', 'INV-2', 'INV-9', 'INV-10', 'INV-0100']],
		['sortBy=invoiceNumber', ['INV-0100', 'INV-10', 'INV-9', 'INV-2', 'A-100']],
		['sortBy=totalCents&sortOrder=asc&status=draft,sent', ['INV-10', 'INV-2', 'INV-9']],
	])('%s', async (query, numbers) => {
		expect(await numbersOf(`?${query}`)).toEqual(numbers)
	})

	it('show what has no date last, in both directions', async () => {
		expect((await numbersOf('?sortBy=dueDate&sortOrder=asc')).slice(0, 3)).toEqual(['INV-9', 'INV-10', 'INV-2'])
		expect((await numbersOf('?sortBy=dueDate&sortOrder=desc')).slice(0, 3)).toEqual(['INV-2', 'INV-10', 'INV-9'])
	})
})

describe('filters', () => {
	it.each([
		// 03:00 UTC on the 11th is still the 10th in New York.
		['a day contains plain dates and instants of that day there', 'dueFrom=2026-03-10&dueTo=2026-03-10', ['INV-10', 'INV-9']],
		['a range contains its last day', 'dueFrom=2026-03-11&dueTo=2026-03-11', ['INV-2']],
		['an instant bounds instants, and plain dates by its day', 'dueFrom=2026-03-11T03:00:00Z', ['INV-2', 'INV-10', 'INV-9']],
		['an instant at midnight is no day', 'dueFrom=2026-03-11T00:00:00Z&dueTo=2026-03-11T00:00:00Z', ['INV-9']],
		['an instant is contained itself', 'dueTo=2026-03-11T03:00:00Z', ['INV-10', 'INV-9']],
		['a date as answers show it', `dueTo=${Date.UTC(2026, 2, 10)}`, ['INV-10', 'INV-9']],
		['no range has what has no date', 'paidTo=2026-12-31', ['INV-0100']],
		['the day of creation begins there', 'createdFrom=2026-03-01', []],
		['the day of creation ends there', 'createdTo=2026-02-28', ['INV-0100', 'A-100', 'INV-2', 'INV-10', 'INV-9']],
		['a number is an instant for times', `createdFrom=${march + 4_000}`, ['INV-0100', 'A-100']],
		['since an update', `updatedSince=${march + 5_000}`, ['INV-0100']],
		['totals, both ends', 'totalMin=100&totalMax=200', ['INV-0100', 'INV-2', 'INV-10']],
		['a negative total', 'totalMax=-1', ['A-100']],
		['a currency', 'currency=EUR', ['INV-9']],
		['a payment state', 'paymentState=paid', ['INV-0100']],
		['one status', 'status=sent', ['INV-10']],
		['several', 'status=sent,cancelled', ['A-100', 'INV-10']],
		['several, repeated', 'status=sent&status=cancelled', ['A-100', 'INV-10']],
		['a company and a status', `companyId=${'$c'}&status=paid`, ['INV-0100']],
		['a company and a deal', `companyId=${'$c'}&dealId=${'$d'}`, ['INV-2']],
	])('%s: %s', async (_, query, numbers) => {
		expect(await numbersOf(`?${query.replace('$c', companyId).replace('$d', dealId)}`)).toEqual(numbers)
	})

	it('are those of the SDK, which takes one status or several, and reads on by cursor', async () => {
		const numbers = []
		const query = { status: ['draft', 'sent'], sortBy: 'totalCents', sortOrder: 'asc', limit: 1 } as const
		for await (const { invoiceNumber, lineItems } of tenant.remit.invoices.list(query)) {
			expect(lineItems).toEqual([])
			numbers.push(invoiceNumber)
		}
		expect(numbers).toEqual(['INV-10', 'INV-2', 'INV-9'])
		expect((await tenant.remit.invoices.list({ status: 'paid' })).data).toHaveLength(1)
		expect(
			(await tenant.remit.invoices.list({ dueFrom: Date.UTC(2026, 2, 11), dueTo: '2026-03-11T07:00:00+01:00' })).data,
		).toHaveLength(1)
	})
})

describe('refuses', () => {
	it.each([
		['issuedFrom=2026-03-02&issuedTo=2026-03-01', ['issuedTo'], 'range'],
		['dueFrom=2026-03-02T10:00:00Z&dueTo=2026-03-01', ['dueTo'], 'range'],
		['paidFrom=1772500000000&paidTo=1772400000000', ['paidTo'], 'range'],
		['createdFrom=2026-03-02&createdTo=2026-03-01&totalMin=2&totalMax=1', ['totalMax', 'createdTo'], 'range'],
		['dueFrom=2026-02-30', ['dueFrom'], 'format'],
		['dueFrom=soon', ['dueFrom'], 'format'],
		['createdFrom=1e12', ['createdFrom'], 'type'],
		['createdFrom=0x174876e8000', ['createdFrom'], 'type'],
		['updatedSince=', ['updatedSince'], 'format'],
		['totalMin=1.5', ['totalMin'], 'type'],
		['currency=eur', ['currency'], 'format'],
		['isOverdue=maybe', ['isOverdue'], 'type'],
		['status=', ['status'], 'type'],
		['expand=', ['expand'], 'type'],
		['status=sent,open', ['status'], 'enum'],
		['expand=payments', ['expand'], 'enum'],
		['sortBy=notes', ['sortBy'], 'enum'],
		['fields=all', ['fields'], 'enum'],
	])('%s', async (query, parameters, code) => {
		const { status, body } = await list(`?${query}`)
		expect([status, body.code]).toEqual([400, 'invalid_request'])
		expect(body.errors.map(({ parameter }: { parameter: string }) => parameter)).toEqual(expect.arrayContaining(parameters))
		expect(body.errors.map((error: { code: string }) => error.code)).toContain(code)
	})

	it('an empty list, and says what one is', async () => {
		for (const name of ['status', 'expand'])
			expect((await list(`?${name}=`)).body.detail).toBe(`${name} must be one value, or several with commas between.`)
	})

	it('a cursor of another order, filter, list or organization', async () => {
		const path = '?sortBy=dueDate&status=draft,sent&limit=1'
		const cursor = new URLSearchParams(nextOf((await list(path)).headers)?.split('?')[1]).get('cursor')
		const refused = { status: 400, body: { errors: [{ parameter: 'cursor' }] } }
		expect((await list(`${path}&cursor=${cursor}`)).status).toBe(200)
		// What is shown of the same list is no part of it.
		expect((await list(`${path}&fields=summary&expand=deal&count=true&cursor=${cursor}`)).status).toBe(200)
		for (const query of [
			'?sortBy=issuedDate&status=draft,sent',
			`${path}&sortOrder=asc`,
			'?sortBy=dueDate',
			`${path}&currency=EUR`,
			'?status=draft,sent',
			'',
		])
			expect(await list(`${query}${query ? '&' : '?'}cursor=${cursor}`)).toMatchObject(refused)
		expect(await list(`${path}&cursor=${cursor?.replace(/./, 'X')}`)).toMatchObject(refused)
		expect(await list(`${path}&cursor=${cursor}`, await server.newTenant())).toMatchObject(refused)
	})
})

describe('count=true', () => {
	it('says how many match on the first page, in a header', async () => {
		const total = async (query: string) => (await list(query)).headers.get('x-total-count')
		expect(await total('?count=true')).toBe('5')
		expect(await total('?count=true&limit=2&offset=1')).toBe('5')
		expect(await total('?count=true&status=sent')).toBe('1')
		expect(await total('?count=true&limit=1&status=sent,draft&sortBy=dueDate')).toBe('3')
		expect(await total('?count=true&currency=JPY')).toBe('0')
		expect(await total('?count=false')).toBeNull()
		const next = nextOf((await list('?count=true&limit=2')).headers)
		expect((await tenant.ask('GET', next ?? '')).headers.get('x-total-count')).toBeNull()
		const { response } = await tenant.remit.invoices.list({ count: true, limit: 1 }).withResponse()
		expect(response.headers.get('x-total-count')).toBe('5')
	})
})

describe('fields=summary', () => {
	it('shows what the whole invoice shows, without lines, parties and texts', async () => {
		const { data } = await tenant.remit.invoices.list({ fields: 'summary', sortBy: 'dueDate' })
		const wholes = (await tenant.remit.invoices.list({ sortBy: 'dueDate' })).data
		for (const [index, summary] of data.entries()) {
			expect(wholes[index]).toMatchObject(summary)
			expect(Object.keys(summary)).not.toEqual(expect.arrayContaining(['lineItems']))
		}
		expect(Object.keys(data[0] ?? {})).toHaveLength(23)
	})
})

describe('expand', () => {
	it('shows the company and the deal beside their ids, in lists and alone', async () => {
		const company = (await tenant.ask('GET', `/api/companies/${companyId}`)).body.data
		const deal = (await tenant.ask('GET', `/api/deals/${dealId}`)).body.data
		const id = ids['INV-2'] as string
		const whole = (await tenant.ask('GET', `/api/invoices/${id}`)).body.data
		expect((await tenant.ask('GET', `/api/invoices/${id}?expand=deal,company`)).body.data).toEqual({ ...whole, company, deal })
		expect((await tenant.ask('GET', `/api/invoices/${id}?expand=deal`)).body.data).toEqual({ ...whole, deal })
		expect(await tenant.remit.invoices.get(id, { expand: ['company'] })).toEqual({ ...whole, company })
		for (const sortBy of ['createdAt', 'totalCents'] as const) {
			const { data } = await tenant.remit.invoices.list({
				fields: 'summary',
				expand: ['company', 'deal'],
				sortBy,
				sortOrder: 'asc',
			})
			const of = Object.fromEntries(data.map((invoice) => [invoice.invoiceNumber, invoice]))
			expect([of['INV-9']?.company, of['INV-9']?.deal]).toEqual([null, null])
			expect([of['INV-2']?.company, of['INV-2']?.deal]).toEqual([company, deal])
			expect([of['INV-10']?.company, of['INV-10']?.deal]).toEqual([company, null])
		}
	})

	it('shows a deleted company with its deletedAt, and has another ETag than before', async () => {
		const made = await tenant.remit.companies.create({ name: 'Gone' })
		await make('G-1', { companyId: made.id })
		const path = `/api/invoices/${ids['G-1']}?expand=company`
		const first = await tenant.ask('GET', path)
		const etag = first.headers.get('etag') as string
		expect(first.body.data.company).toMatchObject({ id: made.id, deletedAt: null })
		expect((await tenant.ask('GET', path, { headers: { 'If-None-Match': etag } })).status).toBe(304)
		await tenant.remit.companies.delete(made.id)
		const then = await tenant.ask('GET', path, { headers: { 'If-None-Match': etag } })
		expect([then.status, then.body.data.company.deletedAt]).toEqual([200, server.clock.now])
		await tenant.remit.invoices.update(ids['G-1'] as string, { notes: 'x' }, { ifMatch: then.headers.get('etag') as string })
		await tenant.remit.invoices.delete(ids['G-1'] as string)
	})

	it('needs the scope to read the record', async () => {
		const { key } = await tenant.newKey(['invoices:read', 'deals:read'])
		for (const path of ['/api/invoices', `/api/invoices/${ids['INV-2']}`]) {
			expect((await tenant.ask('GET', `${path}?expand=deal`, { key })).status).toBe(200)
			const refused = { status: 403, body: { code: 'insufficient_scope', errors: [{ parameter: 'expand' }] } }
			expect(await tenant.ask('GET', `${path}?expand=deal,company`, { key })).toMatchObject(refused)
		}
	})

	it('is sent in parts where invoices are long, in any order', async () => {
		const of = await server.newTenant()
		const { id } = await of.remit.companies.create({ name: 'Long' })
		const lineItems = Array.from({ length: 400 }, (_, line) => ({ description: `${line}`.padEnd(900, 'x'), unitPriceCents: 1 }))
		for (const quantity of ['1', '2'])
			await of.remit.invoices.create({ companyId: id, lineItems: lineItems.map((line) => ({ ...line, quantity })) })
		for (const query of ['?expand=company', '?expand=company&sortBy=totalCents', '?expand=company&sortBy=totalCents&limit=1']) {
			const { headers, body } = await of.ask('GET', `/api/invoices${query}`)
			expect(headers.get('content-length')).toBeNull()
			expect(body.data.map(({ totalCents }: { totalCents: number }) => totalCents)).toContain(800)
			for (const invoice of body.data) expect(invoice.company).toMatchObject({ id, name: 'Long' })
		}
		expect((await of.ask('GET', '/api/invoices?fields=summary&sortBy=totalCents')).headers.get('content-length')).not.toBeNull()
	})
})

// The last: once the day is over, a job marks what is overdue.
it('a filter knows what is overdue at the time of the request', async () => {
	expect(await numbersOf('?isOverdue=true')).toEqual([])
	server.clock.now = Date.UTC(2026, 2, 12)
	expect(await numbersOf('?isOverdue=true&sortBy=dueDate')).toEqual(['INV-10'])
	expect(await numbersOf('?isOverdue=false')).toHaveLength(4)
})
