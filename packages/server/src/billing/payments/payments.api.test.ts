// Payments that callers record, and what the ledger does when its invoices change.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { expectBalanced } from '../../../test/ledger.ts'
import type { Payment } from '../../generated/contract.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterEach(() => expectBalanced(server.db, tenant.organizationId))
afterAll(() => server.close())

const ask = async (method: string, path: string, body?: object) => {
	const answer = await tenant.ask(method, path, { body })
	return answer.body
}
const create = async (body: object): Promise<string> => (await ask('POST', '/api/invoices', body)).id
const patch = (id: string, body: object) => ask('PATCH', `/api/invoices/${id}`, body)
const read = async (id: string) => (await ask('GET', `/api/invoices/${id}`)).data
/** Later than what was before, so that it is the newest. */
const pay = async (body: object): Promise<string> => {
	server.clock.now += 1
	return (await ask('POST', '/api/payments', body)).id
}
const payment = async (id: string): Promise<Payment> => (await ask('GET', `/api/payments/${id}`)).data
const paymentsOf = async (id: string): Promise<Payment[]> => (await ask('GET', `/api/payments?invoiceId=${id}`)).data
const shown = ({ source, status, amountCents, allocatedCents, availableCents }: Payment) =>
	[source, status, amountCents, allocatedCents, availableCents] as const
const eventsOf = async (id: string): Promise<string[]> =>
	(await ask('GET', `/webhooks/events?resourceId=${id}&limit=100`)).data.map(({ type }: { type: string }) => type)

const allocationsOf = query<
	{ paymentId: string },
	{ invoiceId: string; amountCents: number; allocatedAt: number; releasedAt: number | null }
>((knex, key) => knex('payment_allocations').where(key).select('*'))

it('A part of what is owed leaves an invoice as it is, and the rest makes it paid as the last payment says', async () => {
	const dealId = await tenant.newDeal({ stage: 'invoiced' })
	const id = await create({ totalCents: 5_000, currency: 'EUR', status: 'sent', dealId })
	const first = await pay({ invoiceId: id, amountCents: 2_000, method: 'cash' })
	const partly = { amountPaidCents: 2_000, amountDueCents: 3_000, amountCreditedCents: 0, paymentState: 'partially_paid' }
	expect(await read(id)).toMatchObject({ status: 'sent', paidDate: null, paymentMethod: null, ...partly })
	expect((await ask('GET', '/api/invoices')).data[0]).toMatchObject(partly)
	const last = { method: 'bank transfer', reference: 'R-7', paidAt: '2026-04-17' }
	const second = await pay({ invoiceId: id, amountCents: 3_000, ...last })
	expect(await read(id)).toMatchObject({
		...{ status: 'paid', paymentState: 'paid', paidDate: Date.UTC(2026, 3, 17), paymentMethod: 'bank transfer' },
		...{ paymentReference: 'R-7', amountPaidCents: 5_000, amountDueCents: 0 },
	})
	expect((await ask('GET', `/api/deals/${dealId}`)).data.stage).toBe('paid')
	expect(await payment(second)).toMatchObject({
		...{
			invoiceId: id,
			companyId: null,
			currency: 'EUR',
			source: 'manual',
			allocations: [{ invoiceId: id, amountCents: 3_000 }],
		},
	})
	expect((await paymentsOf(id)).map(({ id: of }) => of).sort()).toEqual([first, second].sort())
	expect(await eventsOf(id)).toEqual([
		...['invoice.created', 'invoice.sent', 'invoice.updated', 'invoice.partially_paid', 'invoice.updated', 'invoice.paid'],
	])
	expect(await eventsOf(first)).toEqual(['payment.received'])
})

it('More than is owed stays available, and pays other invoices later, all or none', async () => {
	const companyId = (await ask('POST', '/api/companies', { name: 'Acme' })).id
	const ids = [await create({ totalCents: 300, companyId }), await create({ totalCents: 400 }), await create({ totalCents: 500 })]
	const id = await pay({ invoiceId: ids[0], amountCents: 1_000 })
	expect(await payment(id)).toMatchObject({ companyId, allocatedCents: 300, availableCents: 700 })
	expect(await read(ids[0] as string)).toMatchObject({ status: 'paid', sentAt: null })
	const give = async (...parts: [number, number][]) =>
		tenant.ask('POST', `/api/payments/${id}/allocations`, {
			body: { allocations: parts.map(([index, amountCents]) => ({ invoiceId: ids[index], amountCents })) },
		})
	for (const parts of [[[1, 401]], [[1, 400], [2, 301]], [[0, 1]]] as [number, number][][]) // biome-ignore format: pairs
		expect(await give(...parts)).toMatchObject({ status: 422, body: { code: 'allocation_too_large' } })
	expect(await payment(id)).toMatchObject({ availableCents: 700, version: 1 })
	expect((await give([1, 200], [1, 200], [2, 300])).status).toBe(200)
	expect(await payment(id)).toMatchObject({ allocatedCents: 1_000, availableCents: 0, version: 2 })
	expect([await read(ids[1] as string), await read(ids[2] as string)]).toMatchObject([
		{ status: 'paid' },
		{ status: 'draft', paymentState: 'partially_paid', amountDueCents: 200 },
	])
	await ask('DELETE', `/api/payments/${id}/allocations?invoiceId=${ids[1]}`)
	expect(await payment(id)).toMatchObject({ allocatedCents: 600, availableCents: 400, version: 3 })
	expect(await read(ids[1] as string)).toMatchObject({ status: 'draft', paidDate: null, amountPaidCents: 0 })
	expect(await eventsOf(id)).toEqual(['payment.received', 'payment.updated', 'payment.updated', 'payment.unapplied'])
})

it('What an invoice gets of a payment again and again is one allocation, and any past day can still be summed', async () => {
	const ids = [await create({ totalCents: 500 }), await create({ totalCents: 500 })]
	const id = await pay({ invoiceId: ids[0], amountCents: 1_000 })
	await ask('DELETE', `/api/payments/${id}/allocations`)
	const days: number[] = []
	const give = async (...parts: [number, number][]) => {
		server.clock.now += 1
		days.push(server.clock.now)
		const allocations = parts.map(([index, amountCents]) => ({ invoiceId: ids[index], amountCents }))
		expect((await tenant.ask('POST', `/api/payments/${id}/allocations`, { body: { allocations } })).status).toBe(200)
	}
	await give([0, 1])
	await give([0, 2], [1, 3])
	await give([0, 3])
	const held = [
		{ invoiceId: ids[1], amountCents: 3, allocatedAt: days[1] },
		{ invoiceId: ids[0], amountCents: 6, allocatedAt: days[2] },
	]
	const { data: events } = await ask('GET', `/webhooks/events?resourceId=${id}&limit=100`)
	for (const { allocations } of [await payment(id), events.at(-1).data])
		expect(allocations).toEqual(held.map((allocation) => ({ id: expect.any(String), ...allocation })))
	const rows = await server.db.all(allocationsOf, { paymentId: id })
	const onDay = (day: number) =>
		rows
			.filter(
				({ invoiceId, allocatedAt, releasedAt }) => invoiceId === ids[0] && allocatedAt <= day && (releasedAt ?? day + 1) > day,
			)
			.reduce((sum, { amountCents }) => sum + amountCents, 0)
	expect(days.map(onDay)).toEqual([1, 3, 6])
	await ask('DELETE', `/api/payments/${id}/allocations?invoiceId=${ids[0]}`)
	expect(await payment(id)).toMatchObject({ allocatedCents: 3, allocations: [{ invoiceId: ids[1] }] })
})

it('A payment is on at most 500 invoices, so that each of its events stays short', async () => {
	const ids: string[] = []
	const invoices = Array.from({ length: 167 }, () => ({ totalCents: 2 }))
	for (let part = 0; part < 3; part++) ids.push(...(await Promise.all(invoices.map((invoice) => create(invoice)))))
	const id = await pay({ amountCents: 1_000 })
	const give = (some: string[]) => {
		const allocations = some.map((invoiceId) => ({ invoiceId, amountCents: 1 }))
		return tenant.ask('POST', `/api/payments/${id}/allocations`, { body: { allocations } })
	}
	for (let first = 0; first < 500; first += 100) expect((await give(ids.slice(first, first + 100))).status).toBe(200)
	expect(await give(ids.slice(500))).toMatchObject({
		...{ status: 422, body: { code: 'too_many_allocations', errors: [{ pointer: '/allocations' }] } },
	})
	expect((await give(ids.slice(0, 1))).status).toBe(200)
	expect((await payment(id)).allocations).toHaveLength(500)
})

it('A request changes invoices with at most 10,000 line items, or nothing: a larger payment goes on and off in parts', async () => {
	const lineItems = Array.from({ length: 1_000 }, () => ({ description: 'Hour', quantity: '1', unitPriceCents: 100 }))
	const ids: string[] = []
	for (let n = 0; n < 11; n++) ids.push(await create({ lineItems }))
	const last = ids.at(-1) as string
	const parts = (some: string[]) => some.map((invoiceId) => ({ invoiceId, amountCents: 1 }))
	const refused = { status: 422, body: { code: 'too_many_allocations' } }
	const onField = { ...refused, body: { ...refused.body, errors: [{ pointer: '/allocations' }] } }
	const all = { amountCents: 20, allocations: parts(ids) }
	expect(await tenant.ask('POST', '/api/payments', { body: all })).toMatchObject(onField)
	const id = await pay({ amountCents: 20, allocations: parts(ids.slice(0, 10)) })
	const on = `/api/payments/${id}/allocations`
	expect(await tenant.ask('POST', on, { body: { allocations: parts(ids) } })).toMatchObject(onField)
	expect((await tenant.ask('POST', on, { body: { allocations: parts([last]) } })).status).toBe(200)
	expect((await payment(id)).allocations).toHaveLength(11)
	expect(await tenant.ask('DELETE', on)).toMatchObject(refused)
	expect(await tenant.ask('POST', `/api/payments/${id}/reverse`)).toMatchObject(refused)
	for (const invoice of ids) expect(await read(invoice)).toMatchObject({ amountPaidCents: 1 })
	expect((await tenant.ask('DELETE', `${on}?invoiceId=${last}`)).status).toBe(200)
	expect((await tenant.ask('POST', `/api/payments/${id}/reverse`)).status).toBe(200)
	for (const invoice of ids) expect(await read(invoice)).toMatchObject({ amountPaidCents: 0 })
})

it('One payment of several invoices is for all of them or none', async () => {
	const [euro, dollar] = [await create({ totalCents: 300, currency: 'EUR' }), await create({ totalCents: 400 })]
	const allocations = [euro, dollar].map((invoiceId) => ({ invoiceId, amountCents: 100 }))
	const refused: [object, string][] = [
		[{ amountCents: 1_000, allocations }, 'currency_mismatch'],
		[{ amountCents: 150, allocations: [allocations[1], allocations[1]] }, 'allocation_too_large'],
		[{ amountCents: 1_000, currency: 'EUR', invoiceId: dollar }, 'currency_mismatch'],
		[{ amountCents: 1_000, invoiceId: 'inv_unknown' }, 'unknown_invoice'],
		[{ amountCents: 1_000, companyId: 'cmp_unknown' }, 'unknown_company'],
		[{ amountCents: 1_000, invoiceId: await create({ totalCents: 0 }) }, 'nothing_to_pay'],
		[{ amountCents: 1_000, invoiceId: await create({ totalCents: -5 }) }, 'nothing_to_pay'],
		[{ amountCents: 1_000, invoiceId: await create({ totalCents: 5, status: 'cancelled' }) }, 'nothing_to_pay'],
	]
	for (const [body, code] of refused)
		expect(await tenant.ask('POST', '/api/payments', { body })).toMatchObject({ status: 422, body: { code } })
	const both = { amountCents: 1_000, invoiceId: dollar, allocations }
	expect(await tenant.ask('POST', '/api/payments', { body: both })).toMatchObject({
		...{ status: 422, body: { code: 'invalid_payment', errors: [{ pointer: '/allocations' }] } },
	})
	const credit = await tenant.ask('POST', '/api/payments', {
		body: { amountCents: 1, invoiceId: await create({ totalCents: -5 }) },
	})
	expect(credit.body.errors[0].detail).toMatch(/: it is a credit\.$/)
	expect((await ask('GET', '/api/payments')).meta.total).toBe(0)
	const foreign = await server.newTenant()
	expect((await foreign.ask('POST', '/api/payments', { body: { amountCents: 1, invoiceId: euro } })).body.code).toBe(
		'unknown_invoice',
	)
})

it('A payment may have arrived until tomorrow, whatever the time zone of its caller, and not later', async () => {
	const dayMs = 86_400_000
	const at = (paidAt: number) => tenant.ask('POST', '/api/payments', { body: { amountCents: 1, paidAt } })
	// The organization is in UTC.
	const endOfTomorrow = (Math.floor(server.clock.now / dayMs) + 2) * dayMs
	expect((await at(endOfTomorrow - 1)).status).toBe(201)
	expect(await at(endOfTomorrow)).toMatchObject({
		...{ status: 422, body: { code: 'invalid_payment', errors: [{ pointer: '/paidAt' }] } },
	})
})

it('Taking a payment off an invoice that has nothing of it is 404', async () => {
	const [id, other] = [await create({ totalCents: 5 }), await create({ totalCents: 5 })]
	const of = await pay({ invoiceId: id, amountCents: 5 })
	const release = (search = '') => tenant.ask('DELETE', `/api/payments/${of}/allocations${search}`)
	const gone = { status: 404, body: { code: 'allocation_not_found' } }
	for (const unknown of [other, 'inv_unknown']) expect(await release(`?invoiceId=${unknown}`)).toMatchObject(gone)
	expect((await release(`?invoiceId=${id}`)).status).toBe(200)
	expect(await release(`?invoiceId=${id}`)).toMatchObject(gone)
	expect((await release()).status).toBe(200)
})

it('A reversal takes away what its payment did, and its row stays', async () => {
	const id = await create({ totalCents: 500, status: 'sent' })
	const of = await pay({ invoiceId: id, amountCents: 500, method: 'cash' })
	const reverse = () => tenant.ask('POST', `/api/payments/${of}/reverse`, { body: { reason: 'Bounced' } })
	expect([(await reverse()).status, (await reverse()).status]).toEqual([200, 200])
	expect(await read(id)).toMatchObject({ status: 'sent', amountPaidCents: 0, paidDate: null, paymentMethod: null })
	const reversed = {
		status: 'reversed',
		amountCents: 500,
		allocations: [],
		availableCents: 0,
		reversalReason: 'Bounced',
		version: 2,
	}
	expect(await payment(of)).toMatchObject(reversed)
	expect(await eventsOf(of)).toEqual(['payment.received', 'payment.updated', 'payment.reversed'])
	expect((await ask('GET', `/api/payments/${of}/history`)).data.map(({ action }: { action: string }) => action)).toEqual([
		...['updated', 'created'],
	])
	// Whichever payment goes, an invoice that is open again says nothing of how it was paid.
	const several = await create({ totalCents: 100, status: 'sent' })
	const other = await pay({ invoiceId: several, amountCents: 60, method: 'cash' })
	await pay({ invoiceId: several, amountCents: 40, method: 'card', reference: 'R-2', paidAt: '2026-02-03' })
	await ask('POST', `/api/payments/${other}/reverse`)
	const open = { status: 'sent', amountPaidCents: 40, paidDate: null, paymentMethod: null, paymentReference: null }
	expect(await read(several)).toMatchObject(open)
	// Nor does one that a caller had opened before.
	const opened = await create({ totalCents: 40, status: 'sent' })
	const all = await pay({ invoiceId: opened, amountCents: 40, method: 'card', reference: 'R-3' })
	await patch(opened, { status: 'sent' })
	await ask('POST', `/api/payments/${all}/reverse`)
	expect(await read(opened)).toMatchObject({ ...open, amountPaidCents: 0 })
	// To say again what it is changes nothing.
	const repeated = await create({ totalCents: 40, status: 'sent' })
	const whole = await pay({ invoiceId: repeated, amountCents: 40, method: 'card', reference: 'R-4' })
	await patch(repeated, { status: 'paid' })
	await patch(repeated, { status: 'paid', totalCents: 30 })
	await ask('POST', `/api/payments/${whole}/reverse`)
	expect(await read(repeated)).toMatchObject({ ...open, amountPaidCents: 0 })
	// What a caller has said is paid stays paid.
	const said = await create({ totalCents: 500 })
	const part = await pay({ invoiceId: said, amountCents: 200 })
	await patch(said, { status: 'paid' })
	await ask('POST', `/api/payments/${part}/reverse`)
	expect(await read(said)).toMatchObject({ status: 'paid', amountPaidCents: 300, paymentState: 'partially_paid' })
	// The payment that pays the rest says how.
	await pay({ invoiceId: said, amountCents: 200, method: 'card' })
	expect(await read(said)).toMatchObject({ status: 'paid', amountDueCents: 0, paymentMethod: 'card' })
})

it.each<[string, string[], (id: string, payment: string) => Promise<unknown>]>([
	['its payment is reversed', ['draft', 'sent', 'overdue'], (_, of) => ask('POST', `/api/payments/${of}/reverse`)],
	['its payment is taken off it', ['sent', 'draft'], (_, of) => ask('DELETE', `/api/payments/${of}/allocations`)],
	['its total rises', ['draft', 'sent', 'overdue'], (id) => patch(id, { totalCents: 501 })],
	['its currency changes', ['sent', 'draft', 'overdue'], (id) => patch(id, { currency: 'JPY' })],
	['it becomes a credit', ['overdue', 'sent'], (id) => patch(id, { totalCents: -1 })],
])(
	'An invoice that a payment made paid is sent again, or as it was if it was never sent, when %s',
	async (_, statuses, change) => {
		const id = await create({ totalCents: 500 })
		for (const status of statuses) {
			await patch(id, { status })
			const before = await read(id)
			const of = await pay({ invoiceId: id, amountCents: 500, method: 'cash', reference: 'R-1' })
			expect(await read(id)).toMatchObject({ status: 'paid', paymentMethod: 'cash' })
			await change(id, of)
			const again = before.sentAt === null ? status : 'sent'
			const open = { status: again, paidDate: null, paymentMethod: null, paymentReference: null, sentAt: before.sentAt }
			expect(await read(id)).toMatchObject(open)
			const { data: events } = await ask('GET', `/webhooks/events?resourceId=${id}&limit=100`)
			const last = events.findLast(({ type }: { type: string }) => type === 'invoice.updated')
			expect(last.changes.status).toEqual({ from: 'paid', to: again })
			await ask('POST', `/api/payments/${of}/reverse`)
			await patch(id, { totalCents: 500, currency: 'USD', status: 'draft' })
		}
	},
)

/** As a server of the version before leaves it. */
const forgotten = query<{ id: string }>((knex, key) => knex('invoices').where(key).update({ statusBeforePayment: null }))

it('An invoice that a server of the version before made paid is sent again, or a draft if it was never sent', async () => {
	for (const status of ['draft', 'sent']) {
		const id = await create({ totalCents: 500, status })
		await pay({ invoiceId: id, amountCents: 500 })
		await server.db.transaction((tx) => tx.run(forgotten, { id }))
		await patch(id, { totalCents: 501 })
		expect(await read(id)).toMatchObject({ status })
	}
})

it('An invoice that was paid and then mailed is sent, not a draft, when its payment is reversed', async () => {
	const { id: companyId } = await ask('POST', '/api/companies', { name: 'Acme' })
	const id = await create({ totalCents: 500, companyId })
	const of = await pay({ invoiceId: id, amountCents: 500 })
	await ask('POST', `/api/invoices/${id}/send`, { to: 'a@client.example' })
	await ask('POST', `/api/payments/${of}/reverse`)
	expect(await read(id)).toMatchObject({ status: 'sent', billTo: { name: 'Acme' }, locale: 'en-US' })
})

it('An invoice that was overdue and paid is overdue again only once it is late', async () => {
	const id = await create({ totalCents: 500, status: 'sent', dueDate: '2020-01-01' })
	await server.runJobs()
	expect(await read(id)).toMatchObject({ status: 'overdue' })
	const of = await pay({ invoiceId: id, amountCents: 500 })
	await patch(id, { totalCents: 600, dueDate: '2099-01-01' })
	await server.runJobs()
	expect(await read(id)).toMatchObject({ status: 'sent', isOverdue: false })
	await patch(id, { dueDate: '2020-01-01' })
	await ask('POST', `/api/payments/${of}/reverse`)
	await server.runJobs()
	expect(await read(id)).toMatchObject({ status: 'overdue', isOverdue: true })
})

/** As the version before left an invoice whose total rose after a payment had made it paid. */
const raised = query<{ id: string }>((knex, key) => knex('invoices').where(key).update({ totalCents: 600 }))

it('A note never changes the status that a payment gave', async () => {
	const id = await create({ totalCents: 500, status: 'sent' })
	await pay({ invoiceId: id, amountCents: 500, method: 'cash' })
	await server.db.transaction((tx) => tx.run(raised, { id }))
	await patch(id, { notes: 'Thank you.' })
	expect(await read(id)).toMatchObject({ status: 'paid', paymentMethod: 'cash', notes: 'Thank you.' })
	await patch(id, { totalCents: 700 })
	expect(await read(id)).toMatchObject({ status: 'sent', paymentMethod: null })
})

it.each(['draft', 'sent', 'overdue'])(
	'An invoice that is %s is paid when its total comes down to what was paid of it',
	async (status) => {
		const dealId = await tenant.newDeal({ stage: 'invoiced' })
		const id = await create({ lineItems: [{ unitPriceCents: 5_000 }], status, dealId })
		await pay({ invoiceId: id, amountCents: 3_000, method: 'cash' })
		await patch(id, { lineItems: [{ unitPriceCents: 3_000 }] })
		const paid = { status: 'paid', paidDate: expect.any(Number), paymentState: 'paid', amountPaidCents: 3_000, amountDueCents: 0 }
		expect(await read(id)).toMatchObject(paid)
		expect(await eventsOf(id)).toContain('invoice.paid')
		expect((await ask('GET', `/api/deals/${dealId}`)).data.stage).toBe('paid')
		await patch(id, { lineItems: [{ unitPriceCents: 4_000 }] })
		expect(await read(id)).toMatchObject({ status, paidDate: null, amountDueCents: 1_000 })
		await patch(id, { lineItems: [{ unitPriceCents: 2_000 }] })
		expect(await read(id)).toMatchObject({ status: 'paid', amountPaidCents: 2_000 })
	},
)

it('A total that comes down to what was paid changes no status that its caller writes, and none of an invoice without money', async () => {
	const id = await create({ totalCents: 500, status: 'sent' })
	await pay({ invoiceId: id, amountCents: 300 })
	await patch(id, { totalCents: 300, status: 'sent' })
	expect(await read(id)).toMatchObject({ status: 'sent', amountDueCents: 0 })
	await patch(id, { totalCents: 200 })
	expect(await read(id)).toMatchObject({ status: 'sent', amountPaidCents: 200 })
	const unpaid = await create({ totalCents: 500, status: 'sent' })
	await patch(unpaid, { totalCents: 0 })
	expect(await read(unpaid)).toMatchObject({ status: 'sent', amountDueCents: 0 })
	// What a caller had called paid is so by the caller's word again.
	const said = await create({ totalCents: 500, status: 'paid' })
	await patch(said, { totalCents: 600 })
	await patch(said, { totalCents: 500 })
	await patch(said, { totalCents: 600 })
	expect(await read(said)).toMatchObject({ status: 'paid', amountDueCents: 100 })
})

it('An invoice that a payment made paid stays so when its caller says so, or nothing is missing', async () => {
	const id = await create({ totalCents: 500, status: 'sent' })
	await pay({ invoiceId: id, amountCents: 500 })
	await patch(id, { totalCents: 400 })
	expect(await read(id)).toMatchObject({ status: 'paid', amountDueCents: 0 })
	await patch(id, { totalCents: 450, status: 'paid' })
	expect(await read(id)).toMatchObject({ status: 'paid', amountDueCents: 0 })
	await patch(id, { totalCents: 500 })
	expect(await read(id)).toMatchObject({ status: 'paid', amountDueCents: 50 })
})

it('The status paid is a payment of what is due, which follows the invoice and goes with the status', async () => {
	const id = await create({ totalCents: 500 })
	const real = await pay({ invoiceId: id, amountCents: 200 })
	server.clock.now += 1
	await patch(id, { status: 'paid', paymentMethod: 'cash' })
	const shadow = async () => (await paymentsOf(id)).find(({ source }) => source === 'status') as Payment
	expect(await shadow()).toMatchObject({ amountCents: 300, method: 'cash', invoiceId: id, paidAt: server.clock.now })
	await patch(id, { paymentReference: 'R-1', paidDate: '2026-02-03' })
	expect(await shadow()).toMatchObject({ method: 'cash', reference: 'R-1', paidAt: Date.UTC(2026, 1, 3) })
	await patch(id, { totalCents: 400 })
	expect([shown(await shadow()), await read(id)]).toMatchObject([
		['status', 'succeeded', 200, 200, 0],
		{ status: 'paid', amountPaidCents: 400, amountDueCents: 0 },
	])
	await patch(id, { totalCents: 700 })
	expect(await read(id)).toMatchObject({ status: 'paid', amountDueCents: 300, paymentState: 'partially_paid' })
	await patch(id, { status: 'paid' })
	expect(await read(id)).toMatchObject({ amountPaidCents: 700, amountDueCents: 0 })
	await patch(id, { status: 'sent' })
	expect(await read(id)).toMatchObject({ status: 'sent', amountPaidCents: 200, amountDueCents: 500 })
	expect(shown(await payment(real))).toEqual(['manual', 'succeeded', 200, 200, 0])
	for (const { id: of } of (await paymentsOf(id)).filter(({ source }) => source === 'status'))
		expect(await tenant.ask('POST', `/api/payments/${of}/reverse`)).toMatchObject({
			status: 409,
			body: { code: 'payment_not_manual' },
		})
})

it.each<[string, (id: string) => Promise<unknown>, number]>([
	['is cancelled', (id) => patch(id, { status: 'cancelled' }), 500],
	['is deleted', (id) => ask('DELETE', `/api/invoices/${id}`), 500],
	['is in another currency', (id) => patch(id, { currency: 'JPY' }), 500],
	['becomes a credit', (id) => patch(id, { totalCents: -1 }), 500],
	['is for less than was paid', (id) => patch(id, { totalCents: 350 }), 150],
])('The newest money of an invoice is available again when it %s', async (_, change, freed) => {
	const id = await create({ totalCents: 600, status: 'sent' })
	const [first, second] = [await pay({ invoiceId: id, amountCents: 200 }), await pay({ invoiceId: id, amountCents: 300 })]
	await change(id)
	const { availableCents } = await payment(second)
	expect([availableCents, availableCents + (await payment(first)).availableCents]).toEqual([Math.min(300, freed), freed])
	expect(await eventsOf(second)).toEqual(['payment.received', 'payment.updated', 'payment.unapplied'])
})

it('A total of 0 is paid when its status says so, and a credit that was given back is a payment below 0', async () => {
	const [zero, credit] = [await create({ totalCents: 0 }), await create({ totalCents: -300 })]
	expect([await read(zero), await read(credit)]).toMatchObject([{ paymentState: 'unpaid' }, { paymentState: 'unpaid' }])
	for (const id of [zero, credit]) await patch(id, { status: 'paid' })
	expect(await read(zero)).toMatchObject({ paymentState: 'paid', amountPaidCents: 0 })
	expect(await paymentsOf(zero)).toEqual([])
	expect(await read(credit)).toMatchObject({ paymentState: 'paid', amountPaidCents: -300, amountDueCents: 0 })
	expect((await paymentsOf(credit)).map(shown)).toEqual([['status', 'succeeded', -300, -300, 0]])
	await patch(credit, { totalCents: 200 })
	expect(await read(credit)).toMatchObject({ status: 'paid', amountPaidCents: 0, amountDueCents: 200 })
	await patch(credit, { status: 'sent' })
})

/** What a server of the version before writes, which knows no ledger. */
const reopened = query<{ id: string }>((knex, key) => knex('invoices').where(key).update({ amountPaidCents: 0, status: 'sent' }))

it('The ledger follows what a server of an older version wrote before a payment comes or goes', async () => {
	const [named, given, taken] = [
		await create({ totalCents: 500 }),
		await create({ totalCents: 500 }),
		await create({ totalCents: 500 }),
	]
	for (const id of [named, given]) await patch(id, { status: 'paid' })
	const gone = await pay({ invoiceId: taken, amountCents: 500 })
	await server.db.transaction(async (tx) => {
		for (const id of [named, given, taken]) await tx.run(reopened, { id })
	})
	const real = await pay({ invoiceId: named, amountCents: 500 })
	const later = await pay({ amountCents: 700 })
	await ask('POST', `/api/payments/${later}/allocations`, { allocations: [{ invoiceId: given, amountCents: 500 }] })
	await ask('POST', `/api/payments/${gone}/reverse`)
	expect([await payment(real), await payment(later)].map(shown)).toEqual([
		['manual', 'succeeded', 500, 500, 0],
		['manual', 'succeeded', 700, 500, 200],
	])
	for (const id of [named, given]) {
		expect(await read(id)).toMatchObject({ status: 'paid', amountPaidCents: 500 })
		expect((await paymentsOf(id)).filter(({ source }) => source === 'status').map(({ status }) => status)).toEqual(['reversed'])
	}
	expect(await read(taken)).toMatchObject({ status: 'sent', amountPaidCents: 0, amountDueCents: 500 })
	expect(await payment(gone)).toMatchObject({ status: 'reversed', allocations: [] })
})

it('Payments are listed by their source, company, status and invoice, and page by page, newest first', async () => {
	const companyId = (await ask('POST', '/api/companies', { name: 'Acme' })).id
	const made = []
	for (let n = 1; n <= 5; n++) {
		server.clock.now += n % 2
		made.push(await pay({ amountCents: n, ...(n > 3 && { companyId }) }))
	}
	await create({ totalCents: 9, status: 'paid' })
	await ask('POST', `/api/payments/${made[0]}/reverse`)
	const amounts = async (search: string) =>
		(await ask('GET', `/api/payments?${search}`)).data.map(({ amountCents }: Payment) => amountCents).sort()
	expect(await amounts('source=manual')).toEqual([1, 2, 3, 4, 5])
	expect(await amounts('source=status')).toEqual([9])
	expect(await amounts(`companyId=${companyId}`)).toEqual([4, 5])
	expect(await amounts('status=reversed')).toEqual([1])
	const paged = []
	for await (const { id, createdAt } of tenant.remit.payments.list({ source: 'manual', limit: 2 })) paged.push({ id, createdAt })
	expect(paged.map(({ id }) => id).sort()).toEqual([...made].sort())
	expect(paged.map(({ createdAt }) => createdAt)).toEqual(paged.map(({ createdAt }) => createdAt).sort((a, b) => b - a))
})

it('Of a payment only what no amount depends on changes', async () => {
	const id = await pay({ amountCents: 5, notes: 'By post', metadata: { box: '7' } })
	const path = `/api/payments/${id}`
	expect((await tenant.ask('PATCH', path, { body: { amountCents: 6 } })).status).toBe(400)
	await ask('PATCH', path, { method: 'cheque', notes: null, metadata: { box: '8' } })
	await ask('PUT', path, { method: 'cheque' })
	expect(await payment(id)).toMatchObject({ amountCents: 5, method: 'cheque', notes: null, metadata: { box: '8' }, version: 2 })
})
