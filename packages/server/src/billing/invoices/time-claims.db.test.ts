// A time entry is on one invoice at most, even when several requests want it at once.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invoicesOf, invoiceTime, readEntry, stateOf, work } from '../../../test/time.ts'
import type { Invoice, LineItemInput } from '../../generated/contract.ts'

let server: TestServer
let tenant: Tenant
let dealId: string
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	dealId = await tenant.newDeal({ hourlyRateCents: 10_000 })
})
afterAll(() => server.close())

const read = async (id: string): Promise<Invoice> => (await tenant.ask('GET', `/api/invoices/${id}`)).body.data
const patch = (id: string, body: object) => tenant.ask('PATCH', `/api/invoices/${id}`, { body })
const changed = async (id: string, body: object) => {
	expect((await patch(id, body)).body).toEqual({ ok: true })
	return read(id)
}
const worked = (...tasks: string[]) => work(server, tenant, dealId, ...tasks.map((taskName) => ({ taskName })))
const invoice = (timeEntryIds: string[]) => invoiceTime(tenant, { dealId, timeEntryIds })
const made = async (timeEntryIds: string[]) => read((await invoice(timeEntryIds)).body.id)
const holders = (ids: string[]) => invoicesOf(tenant, ids)
const taken = { status: 409, body: { code: 'time_entry_already_invoiced' } }

describe('of invoices that want the same entries at the same time', () => {
	it('one gets them, and the other is refused and uses no number', async () => {
		const [a = '', b = '', c = ''] = await worked('A', 'B', 'C')
		const answers = await Promise.all([invoice([a, b]), invoice([c, b])])
		const [won, lost] = answers.toSorted((one, other) => one.status - other.status)
		expect(won).toMatchObject({ status: 201, body: { invoiceNumber: 'INV-0001' } })
		expect(lost).toMatchObject({
			...taken,
			body: { errors: [{ pointer: '/timeEntryIds/1', detail: `${b} is on the invoice ${won?.body.id}` }] },
		})
		const left = answers[0]?.status === 201 ? c : a
		expect(await holders([b, left])).toEqual([won?.body.id, null])
		expect((await invoice([left])).body.invoiceNumber).toBe('INV-0002')
	})

	it('exactly one of fifty gets them', async () => {
		const ids = await worked('A', 'B', 'C')
		const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => invoice(index % 2 ? ids : ids.toReversed())))
		const [won, ...others] = answers.toSorted((one, other) => one.status - other.status)
		expect(won).toMatchObject({ status: 201, body: { invoiceNumber: 'INV-0001' } })
		for (const other of others) expect(other).toMatchObject(taken)
		expect(await holders(ids)).toEqual(Array(3).fill(won?.body.id))
		expect((await stateOf(server, tenant)).nextInvoiceNumber).toBe(2)
		expect((await eventsOf(server, tenant)).filter(({ type }) => type === 'invoice.created')).toHaveLength(1)
	})

	it('a cancelled one that is restored and a new one cannot both have them', async () => {
		for (let round = 0; round < 5; round++) {
			const ids = await worked('A', 'B')
			const { id } = await made(ids)
			await changed(id, { status: 'cancelled' })
			const [revived, next] = await Promise.all([patch(id, { status: 'draft' }), invoice(ids)])
			expect([revived.status, next.status].toSorted()).toEqual([expect.any(Number), 409])
			expect(await holders(ids)).toEqual(Array(2).fill(revived.status === 200 ? id : next.body.id))
			expect((await read(id)).status).toBe(revived.status === 200 ? 'draft' : 'cancelled')
		}
	})
})

describe('an entry that is changed while it is invoiced', () => {
	it('is charged as it is from then on, and its last event is its last state', async () => {
		for (let round = 0; round < 3; round++) {
			const ids = await worked(...Array.from({ length: 20 }, (_, index) => `Task ${index}`))
			const change = (id: string) => tenant.ask('PATCH', `/api/time-entries/${id}`, { body: { durationSeconds: 7200 } })
			const [answer, ...changes] = await Promise.all([invoice(ids), ...ids.map(change)])
			for (const { status } of changes) expect([200, 409]).toContain(status)
			const { lineItems } = await read(answer.body.id)
			expect(lineItems).toHaveLength(20)
			for (const { timeEntryIds, durationSeconds } of lineItems) {
				const entry = await readEntry(tenant, timeEntryIds[0] as string)
				expect(durationSeconds).toBe(entry.durationSeconds)
				expect((await eventsOf(server, tenant, entry.id)).at(-1)?.data).toEqual(entry)
			}
		}
	})
})

describe('an entry is free again', () => {
	it('when its invoice is deleted', async () => {
		const ids = await worked('A', 'B')
		const { id } = await made(ids)
		expect((await tenant.ask('DELETE', `/api/invoices/${id}`)).status).toBe(200)
		for (const entry of ids) expect(await readEntry(tenant, entry)).toMatchObject({ status: 'open', invoiceId: null, version: 3 })
		expect(await made(ids)).toMatchObject({ invoiceNumber: 'INV-0002', totalCents: 20_000 })
	})

	it('when its line is removed: the others stay', async () => {
		const [a = '', b = ''] = await worked('A', 'B')
		const { id, lineItems } = await made([a, b])
		await changed(id, { lineItems: [{ id: lineItems[1]?.id, description: 'kept' }, { description: 'new' }] })
		expect(await holders([a, b])).toEqual([null, id])
		await changed(id, { lineItems: [] })
		expect(await holders([a, b])).toEqual([null, null])
		await tenant.ask('DELETE', `/api/invoices/${(await made([a])).id}`)
		expect((await tenant.ask('DELETE', `/api/invoices/${id}`)).status).toBe(200)
	})

	it('while its invoice is cancelled, which takes it again', async () => {
		const ids = await worked('A', 'B')
		const { id } = await made(ids)
		expect((await tenant.ask('DELETE', `/api/time-entries/${ids[0]}`)).body.code).toBe('time_entry_invoiced')
		const { lineItems } = await changed(id, { status: 'cancelled' })
		expect(lineItems.map(({ timeEntryIds }) => timeEntryIds)).toEqual(ids.map((entry) => [entry]))
		expect(await holders(ids)).toEqual([null, null])
		await changed(id, { notes: 'still cancelled' })
		expect(await holders(ids)).toEqual([null, null])
		await changed(id, { status: 'paid' })
		expect(await holders(ids)).toEqual([id, id])
	})
})

describe('restoring a cancelled invoice is refused', () => {
	const cancelled = async () => {
		const ids = await worked('A', 'B')
		const { id } = await made(ids)
		await changed(id, { status: 'cancelled' })
		return { id, ids: ids as [string, string] }
	}
	const refused = async (id: string, code: string, ...mistakes: { code: string; detail: string }[]) => {
		const before = await stateOf(server, tenant)
		const { body } = await patch(id, { status: 'sent' })
		expect(body).toMatchObject({ code, errors: mistakes.map((mistake) => ({ pointer: '/status', ...mistake })) })
		expect(await stateOf(server, tenant)).toEqual(before)
	}

	it('when another took its entries meanwhile, unless it gives up their lines', async () => {
		const { id, ids } = await cancelled()
		const other = await made([ids[1]])
		const code = 'time_entry_already_invoiced'
		await refused(id, code, { code, detail: `${ids[1]} is on the invoice ${other.id}` })
		await changed(id, { status: 'sent', lineItems: [{ id: (await read(id)).lineItems[0]?.id }] })
		expect(await holders(ids)).toEqual([id, other.id])
	})

	it('when the time that a line charges was changed, unless its quantity is written', async () => {
		const { id, ids } = await cancelled()
		await tenant.ask('PATCH', `/api/time-entries/${ids[1]}`, { body: { durationSeconds: 7200 } })
		const detail = 'line 2 charges 3600 s, but its time entries now have 7200 s'
		await refused(id, 'invalid_time_entries', { code: 'changed', detail })
		const lineItems = (await read(id)).lineItems.map((line, index) => ({ id: line.id, ...(index === 1 && { quantity: 2 }) }))
		expect(await changed(id, { status: 'sent', lineItems })).toMatchObject({ totalCents: 30_000 })
		expect(await holders(ids)).toEqual([id, id])
	})

	it('when its entries were deleted, or are running again', async () => {
		const { id, ids } = await cancelled()
		await tenant.ask('DELETE', `/api/time-entries/${ids[0]}`)
		await tenant.ask('PATCH', `/api/time-entries/${ids[1]}`, { body: { endedAt: null } })
		const running = { code: 'running', detail: `${ids[1]} is running again` }
		await refused(id, 'invalid_time_entries', { code: 'unknown', detail: `${ids[0]} was deleted` }, running)
		await tenant.ask('DELETE', `/api/invoices/${id}`)
		expect(await holders([ids[1]])).toEqual([null])
	})
})

describe('a line of time', () => {
	const line = async (written: LineItemInput) => {
		const [entry = ''] = await work(server, tenant, dealId, { durationSeconds: 1 }, {})
		const { id, lineItems } = await made([entry])
		const after = (await changed(id, { lineItems: [{ id: lineItems[0]?.id as string, ...written }] })).lineItems[0]
		expect(after?.timeEntryIds).toEqual([entry])
		expect(await holders([entry])).toEqual([id])
		return after
	}

	it.each<[string, LineItemInput, object]>([
		['its price is changed: by its seconds', { unitPriceCents: 3_600_000 }, { durationSeconds: 1, amountCents: 1000 }],
		[
			'other fields are changed',
			{ description: 'Work', unit: 'h', metadata: { a: 'b' } },
			{ durationSeconds: 1, amountCents: 3 },
		],
		[
			'the same quantity is written',
			{ quantity: '0.000278', unitPriceCents: 3_600_000 },
			{ durationSeconds: 1, amountCents: 1000 },
		],
		['another quantity is written: by that', { quantity: 2 }, { durationSeconds: null, quantity: '2', amountCents: 20_000 }],
		['a discount is given', { discountPercent: 50, unitPriceCents: 3_600_000 }, { durationSeconds: 1, amountCents: 500 }],
	])('is computed, and keeps its entries, when %s', async (_, written, expected) => {
		expect(await line(written)).toMatchObject(expected)
	})

	it('comes back as it was when it is written as it was read', async () => {
		const ids = await worked('A', 'B', 'A')
		const before = await made(ids)
		const lineItems = before.lineItems.map(({ id, kind, description, quantity, unit, unitPriceCents, taxes, metadata }) => {
			return { id, kind, description, quantity, unit, unitPriceCents, taxes, metadata }
		})
		expect(await changed(before.id, { lineItems })).toEqual(before)
		const [first, second] = before.lineItems
		const turned = (await changed(before.id, { lineItems: [{ id: second?.id }, { id: first?.id }] })).lineItems
		expect(turned.map(({ timeEntryIds }) => timeEntryIds)).toEqual([[ids[1]], [ids[0], ids[2]]])
		expect(await holders(ids)).toEqual(Array(3).fill(before.id))
	})

	it('gets its entries only from the server', async () => {
		const body = { lineItems: [{ timeEntryIds: await worked('A') }] }
		const answer = await tenant.ask('POST', '/api/invoices', { body })
		expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/lineItems/0/timeEntryIds' }] } })
	})
})
