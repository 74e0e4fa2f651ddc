// Through the SDK, like most callers; by plain HTTP where a test is about HTTP itself.
import type { InvoiceInput, InvoicesListQuery } from '@remit/sdk'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())
beforeEach(async () => {
	tenant = await server.newTenant()
	server.clock.now += 1000
})

const path = (id: string) => `/api/invoices/${id}`
const create = async (body?: object) => (await tenant.remit.invoices.create(body as InvoiceInput)).id
const read = async (id: string) => tenant.remit.invoices.get(id)
const ids = async (query?: InvoicesListQuery) => (await tenant.remit.invoices.list(query)).data.map(({ id }) => id)
const company = async ({ remit } = tenant) => (await remit.companies.create({ name: 'Acme' })).id

const defaults = {
	dealId: null,
	companyId: null,
	invoiceNumber: 'INV-0001',
	status: 'draft',
	issuedDate: null,
	dueDate: null,
	paidDate: null,
	paymentMethod: null,
	paymentReference: null,
	periodStart: null,
	periodEnd: null,
	subtotalCents: 0,
	taxRate: 0,
	taxLabel: 'Tax',
	taxCents: 0,
	totalCents: 0,
	currency: 'USD',
	notes: null,
	paymentTerms: null,
	showRateBreakdown: false,
	includeTimesheet: false,
	taxRounding: 'document',
	timeRounding: 'none',
	timeRoundingMinutes: 15,
	lineItems: [],
	taxBreakdown: [],
	amountPaidCents: 0,
	amountCreditedCents: 0,
	amountDueCents: 0,
	paymentState: 'unpaid',
	isOverdue: false,
	sentAt: null,
	viewedAt: null,
	viewCount: 0,
	billTo: null,
	billFrom: null,
	language: null,
	locale: null,
	branding: null,
	timeZone: null,
	version: 1,
}

/** Every writable field, with a value that is not its default. */
const everything = async () => ({
	dealId: await tenant.newDeal(),
	companyId: await company(),
	invoiceNumber: '2026/0042',
	status: 'overdue',
	issuedDate: Date.UTC(2026, 2, 1),
	dueDate: Date.UTC(2026, 2, 31, 10, 30),
	paidDate: Date.UTC(2026, 3, 2, 0, 0, 0, 1),
	paymentMethod: 'bank transfer',
	paymentReference: 'RF18 5390 0754 7034',
	subtotalCents: 818_000,
	taxRate: 9.975,
	taxLabel: 'TVQ',
	taxCents: -81_596,
	totalCents: 999_999_999_999,
	currency: 'KWD',
	notes: 'Dankeschön 🙏\n\t二行目',
	paymentTerms: '30 days',
	showRateBreakdown: true,
	includeTimesheet: true,
})

describe('creating an invoice', () => {
	it.each([
		['no body', undefined],
		['an empty one', {}],
	])('with %s makes a draft with every default', async (_, body) => {
		const { status, body: created, headers } = await tenant.ask('POST', '/api/invoices', { body })
		expect([status, created]).toEqual([201, { id: expect.stringMatching(/^inv_[\w-]+$/), invoiceNumber: 'INV-0001' }])
		expect(headers.get('location')).toBe(path(created.id))
		const now = server.clock.now
		const { organizationId } = tenant
		expect(await read(created.id)).toEqual({ id: created.id, organizationId, ...defaults, createdAt: now, updatedAt: now })
	})

	it.each(['POST', 'PATCH', 'PUT'])('and changing one take every writable field: %s', async (method) => {
		const body = await everything()
		const id = await create(method === 'POST' ? body : {})
		if (method === 'PATCH') expect(await tenant.remit.invoices.update(id, body as InvoiceInput)).toEqual({ ok: true })
		if (method === 'PUT') expect((await tenant.ask(method, path(id), { body })).body).toEqual({ ok: true })
		expect(await read(id)).toMatchObject({ ...body, organizationId: tenant.organizationId })
	})

	it.each(['issuedDate', 'dueDate', 'paidDate'] as const)(
		'reads %s as milliseconds, whichever form was written',
		async (field) => {
			for (const [written, expected] of [
				[1_774_915_200_000, 1_774_915_200_000],
				['2026-03-31', 1_774_915_200_000],
				['2026-03-31T02:00:00+02:00', 1_774_915_200_000],
				['2026-03-31T00:00:00.000Z', 1_774_915_200_000],
				['2200-12-31', 7_289_568_000_000],
				['1970-01-01', 0],
				[7_289_654_399_999, 7_289_654_399_999],
			]) {
				const id = await create({ [field]: written })
				expect((await read(id))[field]).toBe(expected)
				await tenant.remit.invoices.update(id, { [field]: null })
				await tenant.remit.invoices.update(id, { [field]: written })
				expect((await read(id))[field]).toBe(expected)
			}
		},
	)

	it('keeps every tax rate of four places, every amount and any text exactly', async () => {
		const body = fc.record({
			taxRate: fc.integer({ min: 0, max: 1_000_000 }).map((scaled) => scaled / 10_000),
			totalCents: fc.integer({ min: -999_999_999_999, max: 999_999_999_999 }),
			notes: fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
			taxLabel: fc.constantFrom('', "'; drop table invoices; --", '\\', '"', '%_', '💶'),
		})
		const property = fc.asyncProperty(body, async (written) => {
			expect(await read(await create(written))).toMatchObject({ ...written })
		})
		await fc.assert(property, { numRuns: 50 })
		expect((await read(await create({ notes: '💶'.repeat(10_000) }))).notes).toHaveLength(20_000)
		const { body: zero } = await tenant.ask('POST', '/api/invoices', { body: '{"totalCents":-0,"taxRate":-0}' })
		expect((await tenant.ask('GET', path(zero.id))).text).not.toMatch(/:-0/)
	})
})

describe('the list', () => {
	it('has the newest first, the greatest id first among equals, each as a GET answers it, and no meta', async () => {
		for (let count = 0; count < 40; count++) {
			await create()
			if (count % 8 === 0) server.clock.now += 1
		}
		const { body } = await tenant.ask('GET', '/api/invoices?limit=100')
		expect(Object.keys(body)).toEqual(['data'])
		const keys = body.data.map(({ id, createdAt }: { id: string; createdAt: number }) => `${createdAt} ${id}`)
		expect(keys).toHaveLength(40)
		expect(keys).toEqual(keys.toSorted().reverse())
		expect(body.data[7]).toEqual(await read(body.data[7].id))
	})

	it('pages by limit (50 unless told otherwise, at most 100) and offset', async () => {
		await Promise.all(Array.from({ length: 103 }, () => create()))
		const all = [...(await ids({ limit: 100 })), ...(await ids({ limit: 100, offset: 100 }))]
		expect(new Set(all).size).toBe(103)
		expect(await ids()).toEqual(all.slice(0, 50))
		expect(await ids({ offset: 60 })).toEqual(all.slice(60))
		expect(await ids({ limit: 1, offset: 102 })).toEqual(all.slice(102))
		expect(await ids({ limit: 7, offset: 5 })).toEqual(all.slice(5, 12))
		expect(await ids({ offset: 103 })).toEqual([])
		const walked: string[] = []
		for await (const { id } of tenant.remit.invoices.list({ limit: 20 })) walked.push(id)
		expect(walked).toEqual(all)
	})

	it('filters by deal, company and status, alone and together', async () => {
		const [dealId, companyId] = [await tenant.newDeal(), await company()]
		const made: { id: string; dealId?: string; companyId?: string; status: string }[] = []
		for (const deal of [dealId, await tenant.newDeal(), undefined])
			for (const buyer of [companyId, undefined])
				for (const status of ['draft', 'paid'])
					made.unshift({ id: await create({ dealId: deal, companyId: buyer, status }), dealId: deal, companyId: buyer, status })
		const filters = Object.entries({ dealId, companyId, status: 'paid' }) as [keyof (typeof made)[number], string][]
		for (const chosen of [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]].map((at) =>
			filters.filter((_, index) => at.includes(index)),
		)) {
			const expected = made.filter((one) => chosen.every(([name, value]) => one[name] === value)).map(({ id }) => id)
			expect((await ids(Object.fromEntries(chosen))).sort()).toEqual(expected.sort())
		}
		expect(await ids({ dealId, status: 'paid', limit: 1, offset: 1 })).toHaveLength(1)
		for (const search of ['dealId=dl_unknown', 'dealId=', 'companyId=', 'status=cancelled'])
			expect((await tenant.ask('GET', `/api/invoices?${search}`)).body).toEqual({ data: [] })
	})
})

describe.each(['PATCH', 'PUT'])('%s', (method) => {
	const change = async (id: string, body: object) => {
		const { invoices } = tenant.remit
		const answer = method === 'PATCH' ? await invoices.update(id, body) : (await tenant.ask(method, path(id), { body })).body
		expect(answer).toEqual({ ok: true })
		return read(id)
	}

	it('of one field leaves every other as it is', async () => {
		const id = await create(await everything())
		let before = await read(id)
		const derived = { amountDueCents: expect.any(Number), paymentState: expect.any(String), isOverdue: expect.any(Boolean) }
		const changes = {
			...defaults,
			dealId: await tenant.newDeal(),
			companyId: await company(),
			issuedDate: 1e12,
			dueDate: 2e12,
			paidDate: 3e12,
		}
		for (const field of Object.keys(await everything()) as (keyof typeof changes)[]) {
			server.clock.now += 5
			const value = changes[field] ?? 'other'
			const after = await change(id, { [field]: value })
			const { updatedAt, version } = { updatedAt: server.clock.now, version: before.version + 1 }
			const { billTo, billFrom, language, locale, timeZone, branding } = after
			// What a draft has not, and what is the buyer's (snapshot.api.test.ts).
			const followed = /^(status|companyId)$/.test(field) && { billTo, billFrom, language, locale, timeZone, branding }
			expect(after).toEqual({ ...before, ...derived, ...followed, [field]: value, updatedAt, version })
			before = after
		}
	})

	it('of nothing changes nothing', async () => {
		const id = await create(await everything())
		const before = await read(id)
		server.clock.now += 5
		expect(await change(id, {})).toEqual(before)
	})

	it('clears by null what may be empty', async () => {
		const id = await create(await everything())
		const cleared = Object.fromEntries(Object.entries(defaults).filter(([field, value]) => value === null && field in writable))
		expect(Object.keys(cleared)).toHaveLength(9)
		expect(await change(id, cleared)).toMatchObject({
			...cleared,
			currency: 'KWD',
			status: 'sent',
			invoiceNumber: '2026/0042',
		})
	})

	const writable = { dealId: 1, companyId: 1, issuedDate: 1, dueDate: 1, paidDate: 1, paymentMethod: 1, paymentReference: 1, notes: 1, paymentTerms: 1 } // biome-ignore format: a list
})

describe('deleting an invoice', () => {
	it('is for good, and leaves a tombstone that says which, what for, who and when', async () => {
		const { id: deletedBy, key } = await tenant.newKey(['invoices:write'])
		const id = await create({ totalCents: 1234, currency: 'EUR' })
		server.clock.now += 60_000
		const deletedAt = server.clock.now
		expect(await tenant.ask('DELETE', path(id), { key })).toMatchObject({ status: 200, body: { ok: true } })
		const gone = { status: 404, body: { code: 'invoice_not_found' } }
		for (const [method, body] of [['DELETE'], ['GET'], ['PATCH', {}], ['PUT', {}]] as const) {
			expect(await tenant.ask(method, path(id), { body })).toMatchObject(gone)
		}
		await expect(tenant.remit.invoices.delete(id)).rejects.toMatchObject({ name: 'NotFoundError', code: 'invoice_not_found' })
		expect(await ids()).toEqual([])
		const { organizationId } = tenant
		const tombstones = query<{ organizationId: string }>((knex, where) => knex('invoice_tombstones').where(where).select('*'))
		expect(await server.db.all(tombstones, { organizationId })).toEqual([
			{ organizationId, invoiceId: id, invoiceNumber: 'INV-0001', totalCents: 1234, currency: 'EUR', deletedBy, deletedAt },
		])
		expect((await tenant.remit.invoices.create()).invoiceNumber).toBe('INV-0002')
	})
})

describe('the ETag', () => {
	const tagOf = async (id: string) => (await tenant.ask('GET', path(id))).headers.get('etag') as string
	const get = (id: string, tag: string) => tenant.ask('GET', path(id), { headers: { 'if-none-match': tag } })
	const write = async (method: string, id: string, tag: string) => {
		const body = method === 'DELETE' ? undefined : { notes: tag }
		return (await tenant.ask(method, path(id), { headers: { 'if-match': tag }, body })).status
	}

	it('is the one that creating or changing answered, and another after every change', async () => {
		const created = await tenant.ask('POST', '/api/invoices')
		const { id } = created.body
		expect(await tagOf(id)).toBe(created.headers.get('etag'))
		const changed = await tenant.ask('PATCH', path(id), { body: { notes: 'Hello' } })
		expect(await tagOf(id)).toBe(changed.headers.get('etag'))
		expect(changed.headers.get('etag')).not.toBe(created.headers.get('etag'))
	})

	it('in If-None-Match, alone, in a list, weak or as *, gives 304 while it is the same', async () => {
		const id = await create()
		const tag = await tagOf(id)
		for (const same of [tag, `"x", ${tag}`, `"x",W/${tag},"y"`, `W/${tag}`, '*']) {
			expect(await get(id, same)).toMatchObject({ status: 304, text: '' })
		}
		for (const other of ['"x"', tag.slice(1, -1), '"1-overdue"']) expect((await get(id, other)).status).toBe(200)
		await tenant.ask('PATCH', path(id), { body: { notes: 'Hello' } })
		expect((await get(id, tag)).status).toBe(200)
	})

	it.each(['PATCH', 'PUT', 'DELETE'])('in If-Match lets %s change only what was read', async (method) => {
		for (const tag of ['"1"', '*', '"7", "1"', '"7","1" ']) expect(await write(method, await create(), tag)).toBe(200)
		const id = await create()
		for (const tag of ['"2"', '1', '"01"', '""', '"1', '"2", "3"', '"*"', '"1anything"', '"1-anything"', '"1-viewed1x"'])
			expect([tag, await write(method, id, tag)]).toEqual([tag, 412])
		expect(await read(id)).toMatchObject({ notes: null, version: 1 })
	})

	it.each(['W/"1"', '"1-gzip"', '"1-br"', '"1-zstd"', '"1;gzip"', '"1--gzip"', 'W/"1-gzip"'])(
		'still counts as %s, which a proxy that compresses makes of it',
		async (tag) => {
			const id = await create()
			expect((await get(id, tag)).status).toBe(304)
			expect(await write('PATCH', id, tag)).toBe(200)
			expect((await get(id, tag)).status).toBe(200)
			expect(await write('PATCH', id, tag)).toBe(412)
		},
	)

	it.each(['*', '"2"'])('in If-None-Match: %s never makes a change answer 304', async (tag) => {
		const id = await create()
		const headers = { 'if-none-match': tag }
		expect(await tenant.ask('PATCH', path(id), { headers, body: {} })).toMatchObject({ status: 200, body: { ok: true } })
	})

	it('changes when the invoice becomes overdue, though nothing was written, and either one still matches', async () => {
		const id = await create({ status: 'sent', totalCents: 1, dueDate: server.clock.now + 2 * 86_400_000 })
		const fresh = await tagOf(id)
		server.clock.now += 4 * 86_400_000
		const overdue = await tagOf(id)
		expect(overdue).not.toBe(fresh)
		const again = await get(id, fresh)
		expect(again).toMatchObject({ status: 200, body: { data: { isOverdue: true, version: 1 } } })
		expect(await get(id, overdue)).toMatchObject({ status: 304 })
		expect(await write('PATCH', id, overdue)).toBe(200)
		expect(await write('PATCH', id, '"2"')).toBe(200)
	})
})

describe('a link', () => {
	it.each([
		['dealId', 'unknown_deal', (of: Tenant) => of.newDeal()],
		['companyId', 'unknown_company', company],
	])("%s to nothing, or to another organization's record, is refused and named", async (field, code, make) => {
		const id = await create()
		for (const value of ['unknown', await make(await server.newTenant())]) {
			for (const [method, to] of [
				['POST', '/api/invoices'],
				['POST', '/api/invoices/preview'],
				['PATCH', path(id)],
				['PUT', path(id)],
			] as const) {
				const refused = await tenant.ask(method, to, { body: { [field]: value, notes: 'lost' } })
				expect(refused).toMatchObject({ status: 422, body: { code, errors: [{ pointer: `/${field}`, code }] } })
			}
		}
		expect((await tenant.remit.invoices.list()).data).toMatchObject([{ id, notes: null, version: 1 }])
	})

	it('to a company that is deleted later stays: the invoice is read, found and changed as before', async () => {
		const companyId = await company()
		const id = await create({ companyId })
		expect(await tenant.remit.companies.delete(companyId)).toEqual({ ok: true })
		expect(await read(id)).toMatchObject({ companyId })
		expect(await ids({ companyId })).toEqual([id])
		await tenant.remit.invoices.update(id, { notes: 'kept' })
		await tenant.remit.invoices.update(id, { companyId, status: 'paid' })
		expect(await read(id)).toMatchObject({ companyId, notes: 'kept', status: 'paid' })
		const refusal = { name: 'UnprocessableError', status: 422, code: 'unknown_company', errors: [{ pointer: '/companyId' }] }
		await expect(tenant.remit.invoices.create({ companyId })).rejects.toMatchObject(refusal)
		await tenant.remit.invoices.update(id, { companyId: null })
		await expect(tenant.remit.invoices.update(id, { companyId })).rejects.toMatchObject(refusal)
	})
})
