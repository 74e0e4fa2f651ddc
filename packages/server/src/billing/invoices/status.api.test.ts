import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const create = async (body: object = {}, { ask }: Tenant = server): Promise<string> =>
	(await ask('POST', '/api/invoices', { body })).body.id
const read = async (id: string, { ask }: Tenant = server) => (await ask('GET', `/api/invoices/${id}`)).body.data
const patch = async (id: string, body: object, { ask }: Tenant = server) => {
	const { status, body: answer } = await ask('PATCH', `/api/invoices/${id}`, { body })
	expect([status, answer]).toEqual([200, expect.objectContaining({ ok: true })])
	return answer
}
const later = (ms = 1000) => {
	server.clock.now += ms
	return server.clock.now
}

const statuses = ['draft', 'sent', 'paid', 'overdue', 'cancelled']
const given = Date.UTC(2026, 0, 5)

describe('a status', () => {
	it.each(statuses.flatMap((from) => statuses.map((to) => [from, to])))('%s may be followed by %s', async (from, to) => {
		const id = await create({ status: from })
		expect(await read(id)).toMatchObject({ status: from })
		expect(await patch(id, { status: to })).toEqual({ ok: true })
		expect(await read(id)).toMatchObject({ status: to, version: from === to ? 1 : 2 })
	})
})

describe('sent', () => {
	it.each(['create', 'PATCH', 'PUT'])('sets sentAt and, if empty, issuedDate: by %s', async (how) => {
		const now = later()
		const id = await create(how === 'create' ? { status: 'sent' } : {})
		if (how !== 'create') {
			expect(await read(id)).toMatchObject({ sentAt: null, issuedDate: null })
			await server.ask(how, `/api/invoices/${id}`, { body: { status: 'sent' } })
		}
		expect(await read(id)).toMatchObject({ sentAt: now, issuedDate: now })
	})

	it('leaves an issuedDate that is there, or comes with it', async () => {
		const before = await create({ issuedDate: given })
		await patch(before, { status: 'sent' })
		const together = await create()
		await patch(together, { status: 'sent', issuedDate: '2026-01-05' })
		for (const id of [before, together]) expect(await read(id)).toMatchObject({ issuedDate: given, sentAt: server.clock.now })
	})

	it('again changes neither sentAt nor an issuedDate that was cleared since', async () => {
		const first = later()
		const id = await create({ status: 'sent' })
		later()
		await patch(id, { issuedDate: null, status: 'draft' })
		await patch(id, { status: 'sent' })
		const { sentAt, updatedAt } = await read(id)
		expect([sentAt, updatedAt]).toEqual([first, server.clock.now])
	})

	it('is not what paid, overdue or cancelled mean', async () => {
		for (const status of ['paid', 'overdue', 'cancelled']) {
			expect(await read(await create({ status }))).toMatchObject({ sentAt: null, issuedDate: null })
		}
	})
})

describe('paid', () => {
	it('sets paidDate if empty, and leaving it clears what it set', async () => {
		for (const next of ['draft', 'sent', 'overdue', 'cancelled']) {
			const now = later()
			const id = await create()
			await patch(id, { status: 'paid' })
			expect(await read(id)).toMatchObject({ paidDate: now })
			later()
			await patch(id, { notes: 'still paid' })
			expect(await read(id)).toMatchObject({ paidDate: now })
			await patch(id, { status: next })
			expect(await read(id)).toMatchObject({ paidDate: null })
		}
	})

	it('sets paidDate on create too', async () => {
		const id = await create({ status: 'paid', totalCents: 500 })
		expect(await read(id)).toMatchObject({ paidDate: server.clock.now, amountPaidCents: 500, amountDueCents: 0 })
		await patch(id, { status: 'sent' })
		expect(await read(id)).toMatchObject({ paidDate: null, amountPaidCents: 0, amountDueCents: 500 })
	})

	it.each([
		['before', [{ paidDate: given }, { status: 'paid' }]],
		['with it', [{ status: 'paid', paidDate: given }]],
		['after it', [{ status: 'paid' }, { paidDate: '2026-01-05' }]],
	])('leaves a paidDate that was written %s, until it is paid no more', async (_, steps) => {
		const id = await create()
		for (const step of steps) await patch(id, step)
		expect(await read(id)).toMatchObject({ paidDate: given })
		await patch(id, { status: 'draft' })
		expect(await read(id)).toMatchObject({ paidDate: null })
	})

	it('leaves what was written while leaving it', async () => {
		const how = { paymentMethod: 'cheque', paymentReference: '7' }
		const id = await create({ status: 'paid' })
		await patch(id, { status: 'draft', paidDate: given, ...how })
		await patch(id, { status: 'sent' })
		expect(await read(id)).toMatchObject({ paidDate: given, ...how })
	})

	it.each(['draft', 'sent', 'overdue', 'cancelled'])(
		'left for %s takes its day and its way, and comes again with new ones',
		async (next) => {
			const tenant = await server.newTenant()
			server.clock.now = Date.UTC(2026, 2, 1)
			const id = await create({ status: 'sent', totalCents: 100 }, tenant)
			const found = async () => (await tenant.ask('GET', '/api/invoices?paidFrom=2026-01-01')).body.data.length
			const paid = async (month: string) =>
				(await tenant.remit.reports.summary()).currencies[0]?.paidByMonth.find((each) => each.month === month)?.cents
			await patch(id, { status: 'paid', paidDate: '2026-01-05', paymentMethod: 'cheque', paymentReference: '7' }, tenant)
			expect([await found(), await paid('2026-01')]).toEqual([1, 100])
			await patch(id, { status: next }, tenant)
			expect(await read(id, tenant)).toMatchObject({ paidDate: null, paymentMethod: null, paymentReference: null })
			expect([await found(), (await paid('2026-01')) ?? 0]).toEqual([0, 0])
			await patch(id, { status: 'paid' }, tenant)
			expect(await read(id, tenant)).toMatchObject({ paidDate: server.clock.now, paymentMethod: null, paymentReference: null })
			expect([await paid('2026-01'), await paid('2026-03')]).toEqual([0, 100])
		},
	)

	it('again leaves the first paidDate', async () => {
		const now = later()
		const id = await create({ status: 'paid' })
		later()
		await patch(id, { status: 'paid' })
		expect(await read(id)).toMatchObject({ paidDate: now })
	})

	it('pays the total, also one that comes with it or from lines', async () => {
		const id = await create({ lineItems: [{ unitPriceCents: 1000 }] })
		expect(await read(id)).toMatchObject({ amountPaidCents: 0, amountDueCents: 1000 })
		await patch(id, { status: 'paid', taxRate: 10 })
		expect(await read(id)).toMatchObject({ totalCents: 1100, amountPaidCents: 1100, amountDueCents: 0 })
		await patch(id, { status: 'overdue' })
		expect(await read(id)).toMatchObject({ totalCents: 1100, amountPaidCents: 0, amountDueCents: 1100 })
	})
})

describe('cancelled', () => {
	it('owes nothing, and owes it again when it is cancelled no more', async () => {
		const id = await create({ totalCents: 700, status: 'sent' })
		await patch(id, { status: 'cancelled' })
		expect(await read(id)).toMatchObject({ totalCents: 700, amountPaidCents: 0, amountDueCents: 0, isOverdue: false })
		await patch(id, { status: 'sent' })
		expect(await read(id)).toMatchObject({ amountDueCents: 700 })
	})
})

describe('an invoice is overdue', () => {
	const at = async (tenant: Tenant, time: number, id: string): Promise<boolean> => {
		server.clock.now = time
		const { isOverdue } = await read(id, tenant)
		expect((await tenant.ask('GET', '/api/invoices?limit=1')).body.data[0].isOverdue).toBe(isOverdue)
		return isOverdue
	}

	it.each([
		// A plain date is that day in every time zone; a date-time lies in a day of the organization's time zone.
		['UTC', '2026-06-15', '2026-06-16T00:00:00Z'],
		['Pacific/Auckland', '2026-06-15', '2026-06-15T12:00:00Z'],
		['America/Los_Angeles', '2026-06-15', '2026-06-16T07:00:00Z'],
		['UTC', '2026-06-15T23:59:59Z', '2026-06-16T00:00:00Z'],
		['Pacific/Auckland', '2026-06-15T10:00:00Z', '2026-06-15T12:00:00Z'],
		['Pacific/Auckland', '2026-06-15T13:00:00Z', '2026-06-16T12:00:00Z'],
		['America/Los_Angeles', '2026-06-15T03:00:00Z', '2026-06-15T07:00:00Z'],
		['America/Los_Angeles', '2026-06-15T09:00:00+02:00', '2026-06-16T07:00:00Z'],
		// Days of 25 and 23 hours.
		['America/Los_Angeles', '2026-11-01', '2026-11-02T08:00:00Z'],
		['America/Los_Angeles', '2026-11-01T07:30:00Z', '2026-11-02T08:00:00Z'],
		['Pacific/Auckland', '2026-09-27', '2026-09-27T11:00:00Z'],
	])('in %s, when due %s, from %s on', async (timeZone, dueDate, from) => {
		const tenant = await server.newTenant({ timeZone })
		const id = await create({ status: 'sent', dueDate, totalCents: 1 }, tenant)
		const start = Date.parse(from)
		for (const [time, expected] of [
			[start - 1, false],
			[start, true],
			[start + 400 * 86_400_000, true],
			[start - 86_400_000, false],
		] as const) {
			// biome-ignore format: pairs
			expect(await at(tenant, time, id)).toBe(expected)
		}
	})

	it('only while it is sent or overdue, owes something and is due at all', async () => {
		for (const status of statuses) {
			expect(await read(await create({ status, dueDate: '2026-01-05' }))).toMatchObject({ status, isOverdue: false })
			const id = await create({ status, dueDate: '2026-01-05', totalCents: 1 })
			expect((await read(id)).isOverdue).toBe(status === 'sent' || status === 'overdue')
			await patch(id, { dueDate: null })
			expect((await read(id)).isOverdue).toBe(false)
		}
	})
})

describe('marking paid an invoice of a deal', () => {
	const stage = async (dealId: string) => (await server.ask('GET', `/api/deals/${dealId}`)).body.data.stage
	const dealAt = async (at: string, autoAdvance = true) => {
		const dealId = await server.newDeal({ stage: at, autoAdvance })
		return { dealId, id: await create({ dealId }) }
	}

	it.each(['won', 'in_progress', 'invoiced'])('advances it from %s, once, and un-paying does not move it back', async (at) => {
		const { dealId, id } = await dealAt(at)
		expect(await patch(id, { status: 'sent' })).toEqual({ ok: true })
		expect(await stage(dealId)).toBe(at)
		expect(await patch(id, { status: 'paid' })).toEqual({ ok: true, stageAdvanced: 'paid' })
		expect(await stage(dealId)).toBe('paid')
		for (const body of [{ status: 'paid' }, { notes: 'thanks' }, { status: 'sent' }, { status: 'paid' }]) {
			expect(await patch(id, body)).toEqual({ ok: true })
			expect(await stage(dealId)).toBe('paid')
		}
	})

	it('advances it by PUT, from cancelled, and when the deal comes with the same request', async () => {
		const put = await dealAt('won')
		const answer = await server.ask('PUT', `/api/invoices/${put.id}`, { body: { status: 'paid' } })
		expect(answer.body).toEqual({ ok: true, stageAdvanced: 'paid' })
		const cancelled = await dealAt('won')
		await patch(cancelled.id, { status: 'cancelled' })
		expect(await patch(cancelled.id, { status: 'paid' })).toEqual({ ok: true, stageAdvanced: 'paid' })
		const dealId = await server.newDeal({ stage: 'won' })
		expect(await patch(await create(), { status: 'paid', dealId })).toEqual({ ok: true, stageAdvanced: 'paid' })
		expect(await stage(dealId)).toBe('paid')
	})

	it.each([
		['does not advance by itself', 'won', false],
		['is in a stage without a target', 'proposal', true],
		['is lost', 'lost', true],
		['is paid already', 'paid', true],
	])('leaves a deal that %s', async (_, at, autoAdvance) => {
		const { dealId, id } = await dealAt(at, autoAdvance)
		expect(await patch(id, { status: 'paid' })).toEqual({ ok: true })
		expect(await stage(dealId)).toBe(at)
	})

	it('leaves a deal whose target is an earlier stage, its own or none of the pipeline', async () => {
		const tenant = await server.newTenant()
		const stages = ['b', 'a', 'b', 'x'].map((target, index) => {
			return { key: 'abcd'[index], label: 'A stage', type: 'open', advanceOnInvoicePaidTo: target }
		})
		const update = query<{ stages: unknown }>((knex, row) =>
			knex('pipelines').where({ organizationId: tenant.organizationId }).update(row),
		)
		await server.db.transaction((tx) => tx.run(update, { stages }))
		for (const [at, answer] of [
			['b', { ok: true }],
			['c', { ok: true }],
			['d', { ok: true }],
			['a', { ok: true, stageAdvanced: 'b' }],
		] as const) {
			const id = await create({ dealId: await tenant.newDeal({ stage: at }) }, tenant)
			expect(await patch(id, { status: 'paid' }, tenant)).toEqual(answer)
		}
	})

	it('is the step to paid: a deal that is linked when the invoice is paid already stays', async () => {
		const id = await create({ status: 'paid' })
		const dealId = await server.newDeal({ stage: 'won' })
		expect(await patch(id, { dealId, status: 'paid' })).toEqual({ ok: true })
		expect(await stage(dealId)).toBe('won')
	})

	it('leaves it where it is when the change is refused', async () => {
		const { dealId, id } = await dealAt('won')
		const { invoiceNumber } = await read(await create())
		const refused = await server.ask('PATCH', `/api/invoices/${id}`, { body: { status: 'paid', invoiceNumber } })
		expect(refused).toMatchObject({ status: 409 })
		expect([await stage(dealId), (await read(id)).status]).toEqual(['won', 'draft'])
	})

	it('happens once when two requests mark it at the same time', async () => {
		const { dealId, id } = await dealAt('won')
		const both = await Promise.all([patch(id, { status: 'paid' }), patch(id, { status: 'paid' })])
		expect(both.filter(({ stageAdvanced }) => stageAdvanced === 'paid')).toHaveLength(1)
		expect([await stage(dealId), (await read(id)).version]).toEqual(['paid', 2])
	})

	it('takes a change: creating an invoice that is paid moves nothing', async () => {
		const dealId = await server.newDeal({ stage: 'won' })
		await create({ dealId, status: 'paid' })
		expect(await stage(dealId)).toBe('won')
	})

	describe('in a pipeline that waits until all are paid', () => {
		const stages = [{ key: 'won', label: 'Won', type: 'won', advanceOnInvoicePaidTo: 'paid' }, { key: 'paid', label: 'Paid', type: 'won' }] // biome-ignore format: one thing
		const newPipeline = async (option: object) =>
			(await server.ask('POST', '/api/pipelines', { body: { name: 'Projects', stages, ...option } })).body.id
		const newDeal = async (option: object = { advanceWhenAllPaid: true }) =>
			server.newDeal({ pipelineId: await newPipeline(option), stage: 'won' })
		const createOwed = (body: object) => create({ totalCents: 100, ...body })
		const pay = (id: string) => patch(id, { status: 'paid' })
		const advanced = { ok: true, stageAdvanced: 'paid' }

		it.each([['sent'], ['overdue']])('stays while another invoice is %s, and moves with the last', async (status) => {
			const dealId = await newDeal()
			const [deposit, rest] = [await createOwed({ dealId, status: 'sent' }), await createOwed({ dealId, status })]
			expect([await pay(deposit), await stage(dealId)]).toEqual([{ ok: true }, 'won'])
			expect([await pay(rest), await stage(dealId)]).toEqual([advanced, 'paid'])
		})

		it('moves beside drafts and invoices that are paid or cancelled, owe nothing, or are of another deal', async () => {
			const dealId = await newDeal()
			const covered = await createOwed({ dealId, status: 'sent', totalCents: 100 })
			await server.ask('POST', '/api/payments', { body: { invoiceId: covered, amountCents: 60 } })
			await patch(covered, { totalCents: 60, status: 'sent' })
			for (const status of ['draft', 'paid', 'cancelled']) await createOwed({ dealId, status })
			await createOwed({ dealId, status: 'sent', totalCents: 0 })
			await createOwed({ dealId: await newDeal(), status: 'sent' })
			expect(await pay(await createOwed({ dealId, status: 'sent' }))).toEqual(advanced)
		})

		it('is moved by no other change: the last open one that is cancelled leaves it', async () => {
			const dealId = await newDeal()
			const [deposit, rest] = [await createOwed({ dealId, status: 'sent' }), await createOwed({ dealId, status: 'sent' })]
			await pay(deposit)
			expect([await patch(rest, { status: 'cancelled' }), await stage(dealId)]).toEqual([{ ok: true }, 'won'])
		})

		it('moves once when the last ones are paid at the same time', async () => {
			const dealId = await newDeal()
			const ids = await Promise.all(Array.from({ length: 8 }, () => createOwed({ dealId, status: 'sent' })))
			const answers = await Promise.all(ids.map(pay))
			expect(answers.filter(({ stageAdvanced }) => stageAdvanced === 'paid')).toHaveLength(1)
			expect(await stage(dealId)).toBe('paid')
		})

		it('waits only when its pipeline says so, and from the next payment on', async () => {
			for (const option of [{}, { advanceWhenAllPaid: false }]) {
				const dealId = await newDeal(option)
				await createOwed({ dealId, status: 'sent' })
				expect(await pay(await createOwed({ dealId }))).toEqual(advanced)
			}
			const pipelineId = await newPipeline({})
			const at = `/api/pipelines/${pipelineId}`
			expect((await server.ask('GET', at)).body.data.advanceWhenAllPaid).toBe(false)
			await server.ask('PATCH', at, { body: { advanceWhenAllPaid: true } })
			expect((await server.ask('GET', at)).body.data.advanceWhenAllPaid).toBe(true)
			const dealId = await server.newDeal({ pipelineId, stage: 'won' })
			await createOwed({ dealId, status: 'sent' })
			expect(await pay(await createOwed({ dealId }))).toEqual({ ok: true })
		})
	})
})
