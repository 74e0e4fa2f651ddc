import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf, type StoredEvent } from '../../../test/events.ts'
import { type AskOptions, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invoiceTime, readEntry, work } from '../../../test/time.ts'
import { scopes } from '../auth/keys.ts'
import { query } from '../db/database.ts'

const mails = mkdtempSync(join(tmpdir(), 'remit-events-'))
let server: TestServer
let tenant: Tenant
let keyId: string
beforeAll(async () => {
	server = await startTestServer({ SMTP_URL: `file:${mails}`, MAIL_FROM: 'invoices@remit.example' })
})
beforeEach(async () => {
	const organization = await server.newTenant()
	const { id, key } = await organization.newKey(scopes)
	keyId = id
	tenant = { ...organization, ask: (method, path, options) => organization.ask(method, path, { key, ...options }) }
	server.clock.now += 1000
})
afterAll(async () => {
	await server.close()
	rmSync(mails, { recursive: true, force: true })
})

const read = async (path: string) => (await tenant.ask('GET', path)).body.data
const create = async (path: string, body: object = {}): Promise<string> => {
	const answer = await tenant.ask('POST', path, { body })
	expect(answer.status).toBe(201)
	return `${path}/${answer.body.id}`
}
const all = () => eventsOf(server, tenant)
const types = (events: StoredEvent[]) => events.map(({ type }) => type)
/** The events that a request caused. */
async function news(method: string, path: string, options?: AskOptions): Promise<StoredEvent[]> {
	const before = (await all()).length
	expect((await tenant.ask(method, path, options)).status).toBeLessThan(300)
	return (await all()).slice(before)
}

describe('the events of an invoice', () => {
	it.each<[what: string, body: () => Promise<object> | object]>([
		['with nothing', () => ({})],
		[
			'sent to a company',
			async () => ({ status: 'sent', companyId: (await create('/api/companies', { name: 'Änne & Söhne' })).slice(15) }),
		],
		['past its due date', () => ({ status: 'overdue', totalCents: 900, dueDate: 1_600_041_600_000 })],
		['due at an instant', () => ({ status: 'sent', totalCents: 900, dueDate: server.clock.now + 1001 })],
		['paid', () => ({ status: 'paid', totalCents: 900, paymentMethod: 'cash', paidDate: server.clock.now })],
		['cancelled', () => ({ status: 'cancelled', totalCents: 900 })],
		[
			'that credits',
			() => ({ status: 'sent', lineItems: [{ description: '"\\\u2028', quantity: '-1.5', unitPriceCents: 100 }] }),
		],
		[
			'with taxes and discounts',
			async () => ({
				taxRate: 7.25,
				notes: 'two\nlines',
				lineItems: [
					{
						unitPriceCents: 333,
						quantity: '0.333',
						taxRateId: (await create('/api/tax-rates', { name: 'VAT', percent: '19' })).slice(15),
					},
					{ unitPriceCents: 1_000, discountCents: 10 },
				],
			}),
		],
	])('tell of a new one %s what a GET answers, to the letter', async (_, body) => {
		const path = await create('/api/invoices', await body())
		const [event] = (await all()).filter(({ type }) => type === 'invoice.created')
		expect(JSON.stringify(event?.data)).toBe(JSON.stringify(await read(path)))
	})

	it('tell its life in order, each with the invoice as a GET answers it then, the actor and the request', async () => {
		const requests: string[] = []
		const seen: unknown[] = []
		let path = ''
		let expected = 0
		const step = async (method: string, to: string, body: object | undefined, ...happened: string[]) => {
			const requestId = `request-${requests.length}`
			server.clock.now += 1000
			const left = await news(method, to, { ...(body && { body }), headers: { 'x-request-id': requestId } })
			if (method === 'POST' && path === '') path = `/api/invoices/${left[0]?.resourceId}`
			expect(types(left)).toEqual(happened)
			for (const event of left) {
				requests.push(requestId)
				seen.push(method === 'DELETE' ? seen.at(-1) : await read(path))
				const actor = { type: 'api_key', id: keyId }
				expect(event).toMatchObject({ requestId, timestamp: server.clock.now, actor, sequence: ++expected, data: seen.at(-1) })
				expect(event.data).toEqual(seen.at(-1))
				expect(event.changes === null).toBe(event.type !== 'invoice.updated')
			}
		}
		// Not past due once it is sent: a job would mark it at once.
		await step('POST', '/api/invoices', { totalCents: 500, dueDate: '2099-01-05' }, 'invoice.created')
		await step('PATCH', path, { notes: 'Thanks' }, 'invoice.updated')
		await step('PUT', path, { lineItems: [{ unitPriceCents: 700 }] }, 'invoice.updated')
		await step('POST', `${path}/send`, { to: 'billing@acme.example' }, 'invoice.updated', 'invoice.sent')
		await step('POST', `${path}/send`, { to: 'billing@acme.example' }, 'invoice.sent')
		await step('PATCH', path, { status: 'overdue' }, 'invoice.updated', 'invoice.overdue')
		await step('PATCH', path, { status: 'paid' }, 'invoice.updated', 'invoice.paid')
		await step('PATCH', path, { status: 'paid', notes: 'Thank you' }, 'invoice.updated')
		await step('PATCH', path, { status: 'cancelled' }, 'invoice.updated', 'invoice.cancelled')
		await step('DELETE', path, undefined, 'invoice.deleted')
	})

	it('begin with its creation and the status that it is created with', async () => {
		await create('/api/invoices', { status: 'sent' })
		await create('/api/invoices', { status: 'paid' })
		await create('/api/invoices', { status: 'cancelled' })
		const created = 'invoice.created'
		expect(types(await all())).toEqual([created, 'invoice.sent', created, 'invoice.paid', created, 'invoice.cancelled'])
	})

	it('tell of the client’s first view through the link', async () => {
		const path = await create('/api/invoices')
		const { url } = (await tenant.ask('POST', `${path}/client-link`)).body
		const view = `/api/invoices/public/${url.split('/').at(-1)}`
		server.clock.now += 1000
		expect(await news('HEAD', view, { key: null })).toEqual([])
		const viewed = await news('GET', view, { key: null, headers: { 'x-request-id': 'request-view' } })
		expect(viewed).toMatchObject([{ type: 'invoice.viewed', requestId: 'request-view', sequence: 2, changes: null }])
		expect(viewed[0]?.actor).toEqual({ type: 'client_link', id: null })
		expect(viewed[0]?.data).toEqual(await read(path))
		expect(viewed[0]?.data).toMatchObject({ viewCount: 1, viewedAt: server.clock.now })
		expect(await news('GET', view, { key: null })).toEqual([])
	})

	it('carry the id that the server gave a request without one', async () => {
		const { headers } = await tenant.ask('POST', '/api/invoices')
		expect((await all()).map(({ requestId }) => requestId)).toEqual([headers.get('x-request-id')])
	})

	it('follow those of its time entries, and precede that of its deal', async () => {
		const dealId = await tenant.newDeal({ stage: 'won', hourlyRateCents: 100 })
		const timeEntryIds = await work(server, tenant, dealId, {}, {})
		const { id } = (await invoiceTime(tenant, { dealId, timeEntryIds })).body
		const [, , , ...left] = await all()
		expect(types(left)).toEqual(['time_entry.updated', 'time_entry.updated', 'invoice.created'])
		const path = `/api/invoices/${id}`
		expect(left.map(({ data }) => data)).toEqual([
			...(await Promise.all(timeEntryIds.map((entry) => readEntry(tenant, entry)))),
			await read(path),
		])
		expect(left[0]?.changes).toEqual({ status: { from: 'open', to: 'invoiced' }, invoiceId: { from: null, to: id } })
		const paid = await news('PATCH', path, { body: { status: 'paid' } })
		expect(types(paid)).toEqual(['invoice.updated', 'invoice.paid', 'deal.updated', 'deal.stage_changed'])
		expect(paid[3]?.data).toEqual(await read(`/api/deals/${dealId}`))
		expect(paid[3]?.changes).toEqual({ stage: { from: 'won', to: 'paid' } })
		const freed = await news('PATCH', path, { body: { status: 'cancelled' } })
		expect(types(freed)).toEqual(['time_entry.updated', 'time_entry.updated', 'invoice.updated', 'invoice.cancelled'])
		expect(freed[1]?.data).toEqual(await readEntry(tenant, timeEntryIds[1] as string))
	})
})

describe('the changes', () => {
	it.each<[string, object, object, (now: number) => object]>([
		['a field', {}, { notes: 'b', taxLabel: 'Tax' }, () => ({ notes: [null, 'b'] })],
		[
			'a date in another form',
			{ dueDate: '2026-01-05' },
			{ dueDate: Date.UTC(2026, 0, 5), notes: 'b' },
			() => ({ notes: [null, 'b'] }),
		],
		['a total', { totalCents: 5 }, { totalCents: 7 }, () => ({ totalCents: [5, 7], amountDueCents: [5, 7] })],
		[
			'to paid',
			{ totalCents: 5 },
			{ status: 'paid', paymentMethod: 'cash' },
			(now) => ({
				status: ['draft', 'paid'],
				paidDate: [null, now],
				paymentMethod: [null, 'cash'],
				amountPaidCents: [0, 5],
				amountDueCents: [5, 0],
				paymentState: ['unpaid', 'paid'],
			}),
		],
		[
			'to cancelled',
			{ totalCents: 5 },
			{ status: 'cancelled' },
			() => ({ status: ['draft', 'cancelled'], amountDueCents: [5, 0] }),
		],
		[
			'to overdue, and so late',
			{ dueDate: '2026-01-05', totalCents: 5 },
			{ status: 'overdue' },
			() => ({ status: ['draft', 'overdue'], isOverdue: [false, true] }),
		],
	])('name the fields that differ, with old and new value: %s', async (_, before, body, changes) => {
		const path = await create('/api/invoices', before)
		const [updated] = await news('PATCH', path, { body })
		const expected = Object.entries(changes(server.clock.now)).map(([field, [from, to]]) => [field, { from, to }])
		// What an invoice keeps once it is no draft.
		const kept = 'status' in body ? ['billFrom', 'branding', 'language', 'locale', 'timeZone'] : []
		for (const field of kept) expected.push([field, { from: null, to: expect.anything() }])
		expect(updated?.changes).toEqual(Object.fromEntries(expected))
	})

	it('are the lines before and after, with their amounts', async () => {
		const path = await create('/api/invoices', { lineItems: [{ unitPriceCents: 5 }] })
		const before = await read(path)
		const [updated] = await news('PATCH', path, { body: { lineItems: [{ id: before.lineItems[0].id, unitPriceCents: 7 }] } })
		const after = await read(path)
		const fields = ['lineItems', 'subtotalCents', 'totalCents', 'amountDueCents']
		expect(updated?.changes).toEqual(
			Object.fromEntries(fields.map((field) => [field, { from: before[field], to: after[field] }])),
		)
	})

	it('of a long list are the lines that differ, a changed one with its id and the fields that differ', async () => {
		const path = await create('/api/invoices', { lineItems: Array.from({ length: 11 }, () => ({ unitPriceCents: 5 })) })
		const before = await read(path)
		const [changed, ...others] = before.lineItems
		const removed = others.pop()
		const kept = others.map(({ id }: { id: string }) => ({ id }))
		const lineItems = [{ id: changed.id, unitPriceCents: 7 }, ...kept, { unitPriceCents: 9 }]
		const [updated] = await news('PATCH', path, { body: { lineItems } })
		const after = (await read(path)).lineItems
		const part = ({ id, unitPriceCents, amountCents, netCents, grossCents }: typeof changed) => {
			return { id, unitPriceCents, amountCents, netCents, grossCents }
		}
		expect(updated?.changes?.lineItems).toEqual({
			from: [part(changed), removed],
			to: [part(after[0]), after.at(-1)],
			unchanged: 9,
		})
	})

	it('of a thousand lines are shorter than half of them, though all change', async () => {
		const description = 'Some work of this month'
		const path = await create('/api/invoices', {
			lineItems: Array.from({ length: 1_000 }, () => ({ description, unitPriceCents: 5 })),
		})
		const [updated] = await news('PATCH', path, { body: { taxRate: 20 } })
		const { data, changes } = updated as NonNullable<typeof updated>
		expect(changes?.lineItems).toMatchObject({ unchanged: 0, to: expect.objectContaining({ length: 1_000 }) })
		expect(JSON.stringify(changes).length).toBeLessThan(JSON.stringify(data).length / 2)
	})
})

describe('there is no event', () => {
	it('of a write that changes nothing, a read or a preview', async () => {
		const invoice = await create('/api/invoices', { notes: 'a', lineItems: [{ unitPriceCents: 5 }] })
		const company = await create('/api/companies', { name: 'Acme' })
		const { lineItems } = await read(invoice)
		const body = { notes: 'a', totalCents: 5, lineItems: [{ id: lineItems[0].id, quantity: '1.0' }] }
		expect(await news('PATCH', invoice, { body })).toEqual([])
		expect(await news('PATCH', invoice, { body: {} })).toEqual([])
		expect(await news('PATCH', company, { body: { name: 'Acme', phone: null } })).toEqual([])
		for (const path of [invoice, company, '/api/invoices', '/api/companies']) expect(await news('GET', path)).toEqual([])
		expect(await news('POST', '/api/invoices/preview', { body: { status: 'sent', lineItems: [{}] } })).toEqual([])
	})

	it('of a rejected request', async () => {
		const [invoice, company] = [
			await create('/api/invoices', { invoiceNumber: 'A-1' }),
			await create('/api/companies', { name: 'Acme' }),
		]
		const before = await all()
		const stale = { headers: { 'if-match': '"7"' } }
		for (const [method, path, options, status] of [
			['POST', '/api/invoices', { body: { invoiceNumber: 'A-1' } }, 409],
			['POST', '/api/invoices', { body: { dealId: 'dl_unknown' } }, 422],
			['POST', '/api/companies', { body: {} }, 400],
			['PATCH', invoice, { body: { notes: 'x' }, ...stale }, 412],
			['PATCH', invoice, { body: { companyId: 'cmp_unknown', notes: 'x' } }, 422],
			['DELETE', invoice, stale, 412],
			['PATCH', company, { body: { name: 'x' }, ...stale }, 412],
			['DELETE', `${company}x`, {}, 404],
		] as const) expect((await tenant.ask(method, path, options)).status).toBe(status) // biome-ignore format: a row a case
		expect(await all()).toEqual(before)
	})

	it('of a request that is repeated with its Idempotency-Key', async () => {
		for (const [path, body] of [
			['/api/invoices', { status: 'sent' }],
			['/api/companies', { name: 'Acme' }],
		] as const) {
			// biome-ignore format: pairs
			const options = { body, headers: { 'idempotency-key': `once ${path}` } }
			expect(await news('POST', path, options)).not.toEqual([])
			expect(await news('POST', path, options)).toEqual([])
		}
	})
})

describe('the events of a company', () => {
	it('tell that it was created, changed and deleted', async () => {
		const path = await create('/api/companies', { name: 'Acme', phone: '1' })
		const created = await read(path)
		server.clock.now += 1000
		await news('PUT', path, { body: { name: 'Acme II', phone: null, billingCity: 'Bonn', domain: null } })
		const updated = await read(path)
		server.clock.now += 1000
		await news('DELETE', path)
		expect((await tenant.ask('DELETE', path)).status).toBe(404)
		const deletedAt = server.clock.now
		const changes = {
			name: { from: 'Acme', to: 'Acme II' },
			phone: { from: '1', to: null },
			billingCity: { from: null, to: 'Bonn' },
		}
		expect((await all()).map(({ type, sequence, changes, data }) => ({ type, sequence, changes, data }))).toEqual([
			{ type: 'company.created', sequence: 1, changes: null, data: created },
			{ type: 'company.updated', sequence: 2, changes, data: updated },
			{ type: 'company.deleted', sequence: 3, changes: null, data: { ...updated, deletedAt, updatedAt: deletedAt, version: 3 } },
		])
	})
})

describe('events and changes', () => {
	it.each([
		['/api/invoices', {}],
		['/api/companies', { name: 'Acme' }],
	])('stay in the same order under twenty writers at once: %s', async (kind, body) => {
		const path = await create(kind, body)
		await Promise.all(Array.from({ length: 20 }, (_, index) => tenant.ask('PATCH', path, { body: { notes: `note ${index}` } })))
		const [, ...events] = await all()
		expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 2))
		expect(events.map(({ data }) => data.version)).toEqual(events.map((_, index) => index + 2))
		const froms = events.map(({ changes }) => changes?.notes?.from)
		expect(froms).toEqual([null, ...events.slice(0, -1).map(({ data }) => data.notes)])
		expect(events).toHaveLength(20)
		expect(events.at(-1)?.data).toEqual(await read(path))
	})

	it('are written together or not at all', async () => {
		const scratch = await startTestServer()
		const rename = (from: string, to: string) =>
			scratch.db.transaction((tx) =>
				tx.run(
					query((knex) => knex.raw('alter table ?? rename to ??', [from, to])),
					{},
				),
			)
		try {
			const { ask, key, url } = scratch
			const invoice = `/api/invoices/${(await ask('POST', '/api/invoices', { body: {} })).body.id}`
			const company = `/api/companies/${(await ask('POST', '/api/companies', { body: { name: 'Acme' } })).body.id}`
			const state = () =>
				Promise.all([invoice, company, '/api/invoices', '/api/companies'].map(async (path) => (await ask('GET', path)).text))
			const before = await state()
			await rename('events', 'away')
			for (const [method, path, body] of [
				['POST', '/api/invoices', {}],
				['PATCH', invoice, { status: 'paid' }],
				['DELETE', invoice, undefined],
				['POST', '/api/companies', { name: 'Lost' }],
				['PATCH', company, { name: 'Lost' }],
				['DELETE', company, undefined],
			] as const) {
				const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
				const { status } = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
				expect([method, path, status]).toEqual([method, path, 500])
			}
			expect(await state()).toEqual(before)
			await rename('away', 'events')
		} finally {
			await scratch.close()
		}
	})
})
