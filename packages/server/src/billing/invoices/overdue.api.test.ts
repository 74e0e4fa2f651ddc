import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settingsFor } from '../../../test/databases.ts'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import type { InvoiceInput } from '../../generated/contract.ts'
import { dayMs } from '../../platform/base/dates.ts'
import { query } from '../../platform/db/database.ts'
import { openDatabase } from '../../platform/db/drivers/open.ts'
import { Worker } from '../../platform/work/jobs.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import { markAllOverdue } from './overdue.ts'
import { requireLockedInvoice } from './store.ts'
import { changeInvoice } from './write.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const due = Date.UTC(2026, 5, 15)
const nextDay = due + dayMs

const create = async ({ ask }: Tenant, invoice: InvoiceInput = {}): Promise<string> =>
	(await ask('POST', '/api/invoices', { body: { status: 'sent', dueDate: due, totalCents: 100, ...invoice } })).body.id
const read = async ({ ask }: Tenant, id: string) => (await ask('GET', `/api/invoices/${id}`)).body.data
const patch = ({ ask }: Tenant, id: string, body: object) => ask('PATCH', `/api/invoices/${id}`, { body })
/** Sets the server's clock and runs what is due then. */
const sweepAt = (now: number) => {
	server.clock.now = now
	return server.runJobs()
}
/** How many transactions wait for a lock in this database. */
const waiting = query<object, { count: number }>((knex) =>
	knex('pg_stat_activity').whereRaw(`datname = current_database() and wait_event_type = 'Lock'`).count('* as count'),
)
/** The invoice, unless a transaction has locked it. */
const unlocked = query<{ id: string }, { id: string }>((knex, key) =>
	knex('invoices').where(key).select('id').forUpdate().skipLocked(),
)
const typesOf = async (tenant: Tenant, id: string) => (await eventsOf(server, tenant, id)).map(({ type }) => type)
const sent = ['invoice.created', 'invoice.sent']
const turned = ['invoice.updated', 'invoice.overdue']

describe('a sent invoice turns overdue', () => {
	it.each([
		['UTC', '2026-06-15', '2026-06-16T00:00:00Z'],
		['Pacific/Auckland', '2026-06-15', '2026-06-15T12:00:00Z'],
		['Pacific/Honolulu', '2026-06-15', '2026-06-16T10:00:00Z'],
		['Pacific/Auckland', '2026-06-15T13:00:00Z', '2026-06-16T12:00:00Z'],
		['Pacific/Honolulu', '2026-06-15T09:00:00Z', '2026-06-15T10:00:00Z'],
	])('in %s, when due %s, at %s', async (timeZone, dueDate, from) => {
		const tenant = await server.newTenant({ timeZone })
		const start = Date.parse(from)
		server.clock.now = start - dayMs
		const id = await create(tenant, { dueDate })
		await sweepAt(start - 1)
		expect(await read(tenant, id)).toMatchObject({ status: 'sent', isOverdue: false, version: 1 })
		await sweepAt(start)
		expect(await read(tenant, id)).toMatchObject({ status: 'overdue', isOverdue: true, version: 2, updatedAt: start })
	})

	it('once, with an event by the system, and is otherwise unchanged', async () => {
		const tenant = await server.newTenant()
		const id = await create(tenant)
		const before = await read(tenant, id)
		for (const later of [0, 1, dayMs]) await sweepAt(nextDay + later)
		server.clock.now = nextDay
		const after = await read(tenant, id)
		expect(after).toEqual({ ...before, status: 'overdue', isOverdue: true, version: 2, updatedAt: nextDay })
		const [, , updated, overdue, ...more] = await eventsOf(server, tenant, id)
		const bySystem = { actor: { type: 'system', id: null }, requestId: null, timestamp: nextDay }
		expect(updated).toMatchObject({ ...bySystem, type: 'invoice.updated', sequence: 3 })
		expect(updated?.changes).toEqual({ status: { from: 'sent', to: 'overdue' } })
		expect(overdue).toMatchObject({ ...bySystem, type: 'invoice.overdue', sequence: 4, changes: null })
		expect([updated?.data, overdue?.data]).toEqual([after, after])
		expect(more).toEqual([])
	})

	it('however many there are, and in however many organizations', async () => {
		await sweepAt(nextDay)
		const [many, few] = [await server.newTenant(), await server.newTenant({ timeZone: 'Asia/Tokyo' })]
		await Promise.all([...Array.from({ length: 107 }, () => create(many)), create(few), create(many, { dueDate: nextDay })])
		await sweepAt(nextDay)
		await sweepAt(nextDay)
		const overdue = (await eventsOf(server, many)).filter(({ type }) => type === 'invoice.overdue')
		expect(new Set(overdue.map(({ resourceId }) => resourceId)).size).toBe(107)
		expect(overdue).toHaveLength(107)
		expect((await many.ask('GET', '/api/invoices?status=sent')).body.data).toHaveLength(1)
	})

	it('once, also when several processes sweep at the same time', async () => {
		const tenant = await server.newTenant()
		const other = await openDatabase(settingsFor(server.settings), pino({ level: 'silent' }))
		const now = () => server.clock.now
		const handlers = { [jobKinds.overdue]: markAllOverdue(other) }
		const beside = new Worker({ db: other, handlers, now, log: pino({ level: 'silent' }) })
		try {
			for (let round = 0; round < 5; round++) {
				server.clock.now = nextDay - 1
				const ids = await Promise.all([1, 2, 3].map(() => create(tenant)))
				server.clock.now = nextDay
				await Promise.all([server.runJobs(), beside.drain()])
				for (const id of ids) expect(await typesOf(tenant, id)).toEqual([...sent, ...turned])
			}
		} finally {
			await beside.stop()
			await other.close()
		}
	})
})

describe('an invoice stays as it is', () => {
	it.each([
		['is a draft', { status: 'draft' }],
		['is paid', { status: 'paid' }],
		['is cancelled', { status: 'cancelled' }],
		['is overdue already', { status: 'overdue' }],
		['has no due date', { dueDate: null }],
		['is due today', { dueDate: nextDay }],
		['is a credit: its total is below 0', { totalCents: -100 }],
		['owes nothing: its total is 0', { totalCents: 0 }],
	] as [string, InvoiceInput][])('when it %s', async (_, invoice) => {
		const tenant = await server.newTenant()
		server.clock.now = nextDay
		const id = await create(tenant, invoice)
		const [before, happened] = [await read(tenant, id), await typesOf(tenant, id)]
		await sweepAt(nextDay)
		expect([await read(tenant, id), await typesOf(tenant, id)]).toEqual([before, happened])
	})

	it('when money covers its total, until it owes something again', async () => {
		const tenant = await server.newTenant()
		server.clock.now = due
		const id = await create(tenant)
		await tenant.ask('POST', '/api/payments', { body: { invoiceId: id, amountCents: 60 } })
		await patch(tenant, id, { totalCents: 60, status: 'sent' })
		const before = await read(tenant, id)
		await sweepAt(nextDay)
		expect(await read(tenant, id)).toEqual(before)
		expect(before).toMatchObject({ status: 'sent', amountDueCents: 0, isOverdue: false })
		await patch(tenant, id, { totalCents: 61 })
		expect(await read(tenant, id)).toMatchObject({ status: 'sent', amountDueCents: 1, isOverdue: true })
		await server.runJobs()
		expect(await read(tenant, id)).toMatchObject({ status: 'overdue', isOverdue: true })
		await patch(tenant, id, { totalCents: 60, status: 'overdue' })
		const { isOverdue } = (await tenant.ask('GET', '/api/invoices?status=overdue&limit=2')).body.data.find(
			(invoice: { id: string }) => invoice.id === id,
		)
		expect([isOverdue, (await read(tenant, id)).isOverdue]).toEqual([false, false])
	})

	it('when it is paid by a transaction that the sweep waits for', async () => {
		const tenant = await server.newTenant()
		// Before both are due: the server looks for what is due by itself, too.
		server.clock.now = due - dayMs
		const ids = [await create(tenant), await create(tenant)].sort()
		const [id, last] = ids as [string, string]
		await patch(tenant, last, { dueDate: due - dayMs })
		const [isPaid, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
		const paying = server.db.transaction(async (tx) => {
			const invoice = await requireLockedInvoice(tx, tenant.organizationId, id)
			await changeInvoice(tenant.writing(tx), invoice, { status: 'paid' })
			isPaid.resolve()
			await mayEnd.promise
		})
		await isPaid.promise
		const sweep = sweepAt(nextDay)
		// On SQLite the sweep begins after the payment; on PostgreSQL it has found the invoice by then, and waits for its row.
		if (server.db.dialect === 'postgres') {
			await expect.poll(() => server.db.get(waiting, {}), { interval: 10, timeout: 10_000 }).toEqual({ count: 1 })
			// Invoices are locked in the order of their ids, whichever was due first.
			expect(await server.db.get(unlocked, { id: last })).toEqual({ id: last })
		}
		mayEnd.resolve()
		await paying
		await sweep
		expect(await read(tenant, id)).toMatchObject({ status: 'paid', version: 2 })
	})

	it('when it is paid, or due later, before its turn comes', async () => {
		const tenant = await server.newTenant()
		server.clock.now = nextDay
		const saved = [{ dueDate: nextDay + dayMs }, { status: 'paid' }, { dueDate: null }]
		for (let round = 0; round < 12; round++) {
			const ids = await Promise.all(saved.map(() => create(tenant)))
			const sweep = sweepAt(nextDay)
			await Promise.all([sweep, ...ids.map((id, index) => patch(tenant, id, saved[index] as object))])
		}
		for (const { type, data } of await eventsOf(server, tenant)) {
			if (type === 'invoice.overdue') expect(data).toMatchObject({ status: 'overdue', isOverdue: true, dueDate: due })
		}
	})
})

describe('an overdue invoice', () => {
	const listed = async ({ ask }: Tenant, query: string) =>
		(await ask('GET', `/api/invoices?${query}`)).body.data.map((invoice: { id: string }) => invoice.id)

	it('whose due date is put off is sent again with that change, and turns overdue again', async () => {
		const tenant = await server.newTenant()
		const id = await create(tenant)
		await sweepAt(nextDay)
		await patch(tenant, id, { dueDate: nextDay + dayMs })
		const { status, isOverdue, sentAt } = await read(tenant, id)
		expect([status, isOverdue]).toEqual(['sent', false])
		expect((await eventsOf(server, tenant, id)).at(-1)?.changes).toEqual({
			status: { from: 'overdue', to: 'sent' },
			dueDate: { from: due, to: nextDay + dayMs },
			isOverdue: { from: true, to: false },
		})
		for (const query of ['status=overdue', 'isOverdue=true']) expect(await listed(tenant, query)).toEqual([])
		await sweepAt(nextDay + dayMs)
		expect(await read(tenant, id)).toMatchObject({ status: 'sent', isOverdue: false })
		await sweepAt(nextDay + 2 * dayMs)
		expect(await read(tenant, id)).toMatchObject({ status: 'overdue', isOverdue: true, sentAt })
		for (const query of ['status=overdue', 'isOverdue=true']) expect(await listed(tenant, query)).toEqual([id])
		expect(await typesOf(tenant, id)).toEqual([...sent, ...turned, 'invoice.updated', ...turned])
	})

	it.each([
		['its due date is taken away', { dueDate: null }],
		['its total becomes 0', { totalCents: 0 }],
		['its total becomes a credit', { totalCents: -100 }],
	] as [string, InvoiceInput][])('is sent again when %s', async (_, change) => {
		const tenant = await server.newTenant()
		const id = await create(tenant)
		await sweepAt(nextDay)
		await patch(tenant, id, change)
		expect(await read(tenant, id)).toMatchObject({ status: 'sent', isOverdue: false })
		await patch(tenant, id, { dueDate: due, totalCents: 100 })
		await sweepAt(nextDay)
		expect(await read(tenant, id)).toMatchObject({ status: 'overdue', isOverdue: true })
		expect(await typesOf(tenant, id)).toEqual([...sent, ...turned, 'invoice.updated', 'invoice.updated', ...turned])
	})

	it('stays so when its due date is moved to another past day, or something else changes', async () => {
		const tenant = await server.newTenant()
		const id = await create(tenant)
		await sweepAt(nextDay)
		for (const change of [{ dueDate: due - dayMs }, { totalCents: 50 }, { notes: 'Late' }]) {
			await patch(tenant, id, change)
			expect(await read(tenant, id)).toMatchObject({ status: 'overdue', isOverdue: true })
		}
	})

	it('as its caller says of a day ahead keeps the status until its due date moves', async () => {
		const tenant = await server.newTenant()
		server.clock.now = due
		const id = await create(tenant, { status: 'overdue' })
		await patch(tenant, id, { notes: 'We said so' })
		expect(await read(tenant, id)).toMatchObject({ status: 'overdue', isOverdue: false })
		await patch(tenant, id, { dueDate: nextDay })
		expect(await read(tenant, id)).toMatchObject({ status: 'sent', isOverdue: false })
	})

	it('is paid as any other', async () => {
		const tenant = await server.newTenant()
		const id = await create(tenant)
		await sweepAt(nextDay)
		await patch(tenant, id, { status: 'paid' })
		await sweepAt(nextDay + dayMs)
		expect(await read(tenant, id)).toMatchObject({ status: 'paid', isOverdue: false, amountDueCents: 0, version: 3 })
	})
})
