import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const fresh = async () => {
	tenant = await server.newTenant()
}
const post = (body?: object, { ask } = tenant) => ask('POST', '/api/invoices', { body })
const patch = (id: string, body: object) => tenant.ask('PATCH', `/api/invoices/${id}`, { body })
const read = async (id: string) => (await tenant.ask('GET', `/api/invoices/${id}`)).body.data
const number = async (body?: object, of = tenant) => {
	const { status, body: created } = await post(body, of)
	expect(status).toBe(201)
	return created.invoiceNumber as string
}
const stored = async ({ ask } = tenant): Promise<{ invoiceNumber: string }[]> => {
	const pages = await Promise.all([0, 100, 200].map((offset) => ask('GET', `/api/invoices?limit=100&offset=${offset}`)))
	return pages.flatMap(({ body }) => body.data)
}
const upTo = (count: number) => Array.from({ length: count }, (_, index) => `INV-${String(index + 1).padStart(4, '0')}`)
const taken = { status: 409, body: { code: 'invoice_number_taken', errors: [{ pointer: '/invoiceNumber' }] } }

describe('a generated number', () => {
	it('counts from INV-0001 in every organization', async () => {
		await fresh()
		expect([await number(), await number({}), await number({ notes: 'third' })]).toEqual(upTo(3))
		await fresh()
		expect(await number()).toBe('INV-0001')
	})

	it('has at least four digits and then as many as it needs', async () => {
		await fresh()
		await number({ invoiceNumber: 'INV-9998' })
		expect([await number(), await number()]).toEqual(['INV-9999', 'INV-10000'])
	})

	it('is not used up by a create that is refused', async () => {
		await fresh()
		const refused = [
			{ dealId: 'dl_unknown' },
			{ companyId: 'cmp_unknown' },
			{ lineItems: [{ unitPriceCents: 100 }], totalCents: 1 },
			{ lineItems: [{ unitPriceCents: 999_999_999_999, quantity: 2 }] },
			{ lineItems: [{ id: 'li_unknown' }] },
		]
		for (const body of refused) expect((await post(body)).status).toBe(422)
		expect((await post({ unknown: 1 })).status).toBe(400)
		const key = { 'idempotency-key': 'refused' }
		expect(await tenant.ask('POST', '/api/invoices', { body: refused[0], headers: key })).toMatchObject({ status: 422 })
		expect(await number()).toBe('INV-0001')
		expect(await stored()).toHaveLength(1)
	})

	it('is never given again after its invoice is deleted, neither by us nor by a caller', async () => {
		await fresh()
		await number()
		const { id } = (await post()).body
		expect((await tenant.ask('DELETE', `/api/invoices/${id}`)).status).toBe(200)
		expect(await post({ invoiceNumber: 'INV-0002' })).toMatchObject(taken)
		const next = (await post()).body
		expect(next.invoiceNumber).toBe('INV-0003')
		expect(await patch(next.id, { invoiceNumber: 'INV-0002' })).toMatchObject(taken)
		expect(await number()).toBe('INV-0004')
	})

	it('is never one of a deleted invoice that had it before the counter came there', async () => {
		await fresh()
		const remove = async (id: string) => expect((await tenant.ask('DELETE', `/api/invoices/${id}`)).status).toBe(200)
		const prefix = (invoiceNumberPrefix: string) => tenant.ask('PATCH', '/api/organization', { body: { invoiceNumberPrefix } })
		// Before the series has a counter, and when it has one but another is in use.
		await remove((await post({ invoiceNumber: 'R-0001' })).body.id)
		await prefix('R-')
		expect(await number()).toBe('R-0002')
		await prefix('INV-')
		await remove((await post({ invoiceNumber: 'R-0003' })).body.id)
		await prefix('R-')
		expect(await number()).toBe('R-0004')
		// The numbers of two series may look the same.
		await tenant.ask('PUT', '/api/organization/next-invoice-number', { body: { number: 10_001 } })
		const last = (await post()).body
		expect(last.invoiceNumber).toBe('R-10001')
		await remove(last.id)
		await prefix('R-1')
		expect(await number()).toBe('R-10002')
	})
})

describe("a caller's number", () => {
	it.each(['2026/001', 'inv-0009', 'INV-9a', 'XINV-9', 'INV-', 'INV--9', 'INV-9.5', 'Rechnung Nr. 9 – März'])(
		'%s is kept and does not move the counter',
		async (invoiceNumber) => {
			await fresh()
			const { id, invoiceNumber: answered } = (await post({ invoiceNumber })).body
			expect([answered, (await read(id)).invoiceNumber]).toEqual([invoiceNumber, invoiceNumber])
			expect(await number()).toBe('INV-0001')
		},
	)

	it.each([
		['INV-0', 'INV-0003'],
		['INV-1', 'INV-0003'],
		['INV-02', 'INV-0003'],
		['INV-3', 'INV-0004'],
		['INV-0003', 'INV-0004'],
		['INV-0041', 'INV-0042'],
		['INV-000123456', 'INV-123457'],
		['INV-999999999999999', 'INV-1000000000000000'],
	])('%s makes the next one %s, when INV-0003 was the next', async (invoiceNumber, next) => {
		await fresh()
		await number()
		await number()
		expect(await number({ invoiceNumber })).toBe(invoiceNumber)
		expect(await number()).toBe(next)
	})

	it('that is taken is answered 409, stores nothing and uses no number', async () => {
		await fresh()
		await number({ invoiceNumber: 'A-1' })
		await number()
		for (const invoiceNumber of ['A-1', 'INV-0001']) {
			expect(await post({ invoiceNumber })).toMatchObject(taken)
			const headers = { 'idempotency-key': `claim ${invoiceNumber}` }
			expect(await tenant.ask('POST', '/api/invoices', { body: { invoiceNumber }, headers })).toMatchObject(taken)
		}
		expect(await stored()).toHaveLength(2)
		expect(await number()).toBe('INV-0002')
	})

	it('may be the same in another organization', async () => {
		await fresh()
		const first = tenant
		await number({ invoiceNumber: 'INV-0500' })
		await fresh()
		expect(await number({ invoiceNumber: 'INV-0500' })).toBe('INV-0500')
		expect(await number({}, first)).toBe('INV-0501')
	})

	it('of more digits than any counter has leaves numbering at work', async () => {
		await fresh()
		await number({ invoiceNumber: `INV-${'9'.repeat(16)}` })
		await number({ invoiceNumber: `INV-${'9'.repeat(60)}` })
		const next = [await number(), await number()]
		expect(new Set(next).size).toBe(2)
		for (const one of next) expect(one).toMatch(/^INV-\d{4,}$/)
	})

	// A caller's number from 9 000 000 000 000 000 on does not advance the counter.
	it.each([
		[999_999_999_999_999n, false],
		[8_999_999_999_999_999n, false],
		[8_999_999_999_999_999n, true],
	])('that the counter is about to reach is passed over: after %i (deleted since: %j)', async (last, deleted) => {
		await fresh()
		await number({ invoiceNumber: `INV-${last}` })
		const { id } = (await post({ invoiceNumber: `INV-${last + 1n}` })).body
		if (deleted) expect((await tenant.ask('DELETE', `/api/invoices/${id}`)).status).toBe(200)
		expect(await post()).toMatchObject({ status: 201, body: { invoiceNumber: `INV-${last + 2n}` } })
	})
})

describe('changing the number of an invoice', () => {
	it('keeps the new one and pushes the counter as creating does', async () => {
		await fresh()
		const { id } = (await post()).body
		expect(await patch(id, { invoiceNumber: 'INV-0007' })).toMatchObject({ status: 200, body: { ok: true } })
		expect((await read(id)).invoiceNumber).toBe('INV-0007')
		expect(await number()).toBe('INV-0008')
		expect(await patch(id, { invoiceNumber: 'B-1' })).toMatchObject({ status: 200 })
		expect(await number()).toBe('INV-0009')
	})

	it('to the one it has is no conflict', async () => {
		await fresh()
		const { id } = (await post()).body
		expect(await patch(id, { invoiceNumber: 'INV-0001', notes: 'same' })).toMatchObject({ status: 200 })
		expect(await read(id)).toMatchObject({ invoiceNumber: 'INV-0001', notes: 'same' })
	})

	it('to one that is taken is answered 409 and changes nothing', async () => {
		await fresh()
		await number()
		const { id } = (await post()).body
		for (const method of ['PATCH', 'PUT']) {
			const body = { invoiceNumber: 'INV-0001', notes: 'lost', status: 'sent' }
			expect(await tenant.ask(method, `/api/invoices/${id}`, { body })).toMatchObject(taken)
		}
		expect(await read(id)).toMatchObject({ invoiceNumber: 'INV-0002', notes: null, status: 'draft', sentAt: null, version: 1 })
		expect(await number()).toBe('INV-0003')
	})
})

describe('in parallel', () => {
	it('200 creates get 200 distinct, contiguous numbers', async () => {
		await fresh()
		const answers = await Promise.all(Array.from({ length: 200 }, () => number()))
		expect(answers.toSorted()).toEqual(upTo(200))
		expect((await stored()).map(({ invoiceNumber }) => invoiceNumber).sort()).toEqual(upTo(200))
	})

	it("two organizations do not touch each other's numbers", async () => {
		const both = [await server.newTenant(), await server.newTenant()] as const
		const made = await Promise.all(Array.from({ length: 200 }, (_, index) => number({}, both[index % 2])))
		for (const [index, one] of both.entries()) {
			expect(made.filter((_, at) => at % 2 === index).sort()).toEqual(upTo(100))
			expect((await stored(one)).map(({ invoiceNumber }) => invoiceNumber).sort()).toEqual(upTo(100))
		}
	})

	it('creates that are refused leave no gap between those that are not', async () => {
		await fresh()
		const bodies = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? { dealId: 'dl_unknown' } : {}))
		const answers = await Promise.all(bodies.map((body) => post(body)))
		const numbers = answers.filter(({ status }) => status === 201).map(({ body }) => body.invoiceNumber)
		expect(numbers.sort()).toEqual(upTo(40))
	})

	it('one number goes to one of those who claim it', async () => {
		await fresh()
		const answers = await Promise.all(Array.from({ length: 20 }, () => post({ invoiceNumber: 'INV-0005' })))
		expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
		expect(await stored()).toHaveLength(1)
	})

	it.each([
		['a draft', {}, false],
		['a sent invoice', { status: 'sent', dueDate: '2031-03-31' }, false],
		['a sent invoice with an Idempotency-Key', { status: 'sent', dueDate: '2031-03-31' }, true],
	])('a number that was used before its series began is passed over by %s', async (_, body, hasKey) => {
		await fresh()
		const used = ['R-0001', 'R-0004', 'R-0009', 'R-0014']
		for (const invoiceNumber of used) expect((await post({ invoiceNumber })).status).toBe(201)
		await tenant.ask('PATCH', '/api/organization', { body: { invoiceNumberPrefix: 'R-' } })
		const create = (index: number) =>
			tenant.ask('POST', '/api/invoices', { body, headers: hasKey ? { 'idempotency-key': `${index}` } : {} })
		const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => create(index)))
		const numbers = Array.from({ length: 20 }, (_, index) => `R-${String(index + 1).padStart(4, '0')}`)
		expect(answers.map(({ status, body }) => (status === 201 ? body.invoiceNumber : body)).sort()).toEqual(
			numbers.filter((number) => !used.includes(number)),
		)
	})

	it('the numbers that deleted invoices had before their series began are passed over', async () => {
		await fresh()
		const used = ['R-0003', 'R-0004', 'R-0011']
		for (const invoiceNumber of used) {
			const { id } = (await post({ invoiceNumber })).body
			expect((await tenant.ask('DELETE', `/api/invoices/${id}`)).status).toBe(200)
		}
		await tenant.ask('PATCH', '/api/organization', { body: { invoiceNumberPrefix: 'R-' } })
		const numbers = Array.from({ length: 19 }, (_, index) => `R-${String(index + 1).padStart(4, '0')}`)
		expect((await Promise.all(Array.from({ length: 16 }, () => number()))).sort()).toEqual(
			numbers.filter((number) => !used.includes(number)),
		)
	})

	it('a claimed number never makes a generated one fail', async () => {
		await fresh()
		const bodies = Array.from({ length: 60 }, (_, index) =>
			index % 4 === 0 ? { invoiceNumber: `INV-${String(index).padStart(4, '0')}` } : {},
		)
		const answers = await Promise.all(bodies.map((body) => post(body)))
		expect(answers.filter((_, index) => index % 4 !== 0).map(({ status }) => status)).toEqual(Array(45).fill(201))
		expect(new Set((await stored()).map(({ invoiceNumber }) => invoiceNumber)).size).toBe(
			answers.filter(({ status }) => status === 201).length,
		)
	})
})
