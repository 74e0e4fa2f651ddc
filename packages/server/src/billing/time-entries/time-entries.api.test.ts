import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { invalid, recordsAt, refused } from '../../../test/records.ts'
import { invoiceTime } from '../../../test/time.ts'
import { query } from '../../platform/db/database.ts'

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

const entries = recordsAt('/api/time-entries')
const create = (entry: object = {}) => entries.create(tenant, { dealId, ...entry })
const post = (entry: object) => entries.post(tenant, { dealId, ...entry })

const nine = Date.UTC(2026, 2, 31, 9)
const hour = 3_600_000
const worked = { startedAt: nine, endedAt: nine + hour, durationSeconds: 3600 }

const nothing = {
	userId: null,
	taskId: null,
	taskName: null,
	deliverableId: null,
	deliverableName: null,
	description: null,
	hourlyRateCents: null,
}
const details = {
	userId: 'ada',
	taskId: 'T-1',
	taskName: 'Checkout',
	deliverableId: 'D-1',
	deliverableName: 'Shop',
	description: 'Address form\nand map',
	hourlyRateCents: 0,
}

describe('a time entry', () => {
	it('needs a deal: it runs from now on', async () => {
		const id = await create()
		const { now } = server.clock
		const given = { id, organizationId: tenant.organizationId, createdAt: now, updatedAt: now, version: 1 }
		const running = { startedAt: now, endedAt: null, durationSeconds: null, billable: true, status: 'open', invoiceId: null }
		expect(await entries.read(tenant, id)).toEqual({ ...given, dealId, ...nothing, ...running })
	})

	it('takes every other field as well, changes each alone, and clears with null', async () => {
		const id = await create({ ...details, ...worked, billable: false })
		expect(await entries.read(tenant, id)).toMatchObject({ ...details, ...worked, billable: false })
		const other = await tenant.newDeal()
		for (const change of [{ description: 'Other' }, { billable: true }, { hourlyRateCents: 5 }, { dealId: other }]) {
			const before = await entries.read(tenant, id)
			expect(await entries.changed(tenant, id, change)).toEqual({ ...before, ...change, version: before.version + 1 })
		}
		expect(await entries.changed(tenant, id, nothing)).toMatchObject({ ...nothing, ...worked, dealId: other })
		for (const field of ['dealId', 'startedAt', 'billable']) {
			expect(await entries.patch(tenant, id, { [field]: null })).toMatchObject(invalid(`/${field}`))
		}
	})

	it.each([
		[{ dealId: undefined }, '/dealId'],
		[{ startedAt: '2026-03-31T09:00:00' }, '/startedAt'],
		[{ startedAt: '2201-01-01' }, '/startedAt'],
		[{ startedAt: 1_774_915_200 }, '/startedAt'],
		[{ startedAt: -1 }, '/startedAt'],
		[{ endedAt: 7_289_654_400_000 }, '/endedAt'],
		[{ endedAt: '2026-02-30' }, '/endedAt'],
		[{ durationSeconds: -1 }, '/durationSeconds'],
		[{ durationSeconds: 1.5 }, '/durationSeconds'],
		[{ durationSeconds: 31_622_401 }, '/durationSeconds'],
		[{ hourlyRateCents: -1 }, '/hourlyRateCents'],
		[{ description: 'x'.repeat(2001) }, '/description'],
		[{ taskName: 'a\nb' }, '/taskName'],
		[{ status: 'invoiced' }, '/status'],
		[{ invoiceId: 'inv_1' }, '/invoiceId'],
	])('is refused with %j', async (entry, pointer) => {
		expect(await post(entry)).toMatchObject(invalid(pointer))
		const id = await create()
		const { dealId: none, ...change } = entry as { dealId?: string }
		if (pointer !== '/dealId') expect(await entries.patch(tenant, id, change)).toMatchObject(invalid(pointer))
	})

	it('is for a live deal of the organization', async () => {
		const id = await create()
		const deleted = await tenant.newDeal()
		await tenant.ask('DELETE', `/api/deals/${deleted}`)
		const unknown = refused(422, 'unknown_deal', '/dealId')
		for (const other of [deleted, await (await server.newTenant()).newDeal(), 'dl_unknown']) {
			expect(await post({ dealId: other })).toMatchObject(unknown)
			expect(await entries.patch(tenant, id, { dealId: other })).toMatchObject(unknown)
		}
		expect(await entries.ids(tenant)).toEqual([id])
		await entries.changed(tenant, id, { billable: false })
		await tenant.ask('DELETE', `/api/deals/${dealId}`)
		expect(await entries.changed(tenant, id, { dealId, taskName: 'Late' })).toMatchObject({ dealId, taskName: 'Late' })
	})
})

describe('the time of an entry', () => {
	it('is stopped by an end, or by a duration, whatever the offset it is written with', async () => {
		const stops = { ada: { endedAt: nine + hour }, eve: { endedAt: '2026-03-31T12:00:00+02:00' }, tom: { durationSeconds: 3600 } }
		for (const [userId, stop] of Object.entries(stops)) {
			const id = await create({ userId, startedAt: '2026-03-31T05:00:00-04:00' })
			expect(await entries.changed(tenant, id, stop)).toMatchObject(worked)
			expect(await entries.changed(tenant, id, { endedAt: null })).toMatchObject({ endedAt: null, durationSeconds: null })
		}
	})

	it('keeps breaks, also when only its beginning is corrected', async () => {
		const withBreak = { startedAt: nine, endedAt: nine + 4 * hour, durationSeconds: 3 * 3600 }
		const id = await create(withBreak)
		expect(await entries.changed(tenant, id, { description: 'With lunch' })).toMatchObject(withBreak)
		const earlier = { startedAt: nine - hour, endedAt: nine + 4 * hour, durationSeconds: 4 * 3600 }
		expect(await entries.changed(tenant, id, { startedAt: nine - hour })).toMatchObject(earlier)
	})

	it('holds the longest and the last', async () => {
		const year = { startedAt: nine, endedAt: nine + 31_622_400_000, durationSeconds: 31_622_400 }
		expect(await entries.read(tenant, await create({ startedAt: nine, durationSeconds: 31_622_400 }))).toMatchObject(year)
		const last = { startedAt: Date.UTC(2201, 0, 1) - 1000, endedAt: Date.UTC(2201, 0, 1) - 1 }
		expect(await entries.read(tenant, await create(last))).toMatchObject({ ...last, durationSeconds: 0 })
		expect(await entries.read(tenant, await create({ startedAt: '1970-01-01T00:00:00Z' }))).toMatchObject({ startedAt: 0 })
	})

	it.each([
		[{ startedAt: nine, endedAt: nine - 1 }, '/endedAt'],
		[{ startedAt: nine, endedAt: nine + hour, durationSeconds: 3601 }, '/durationSeconds'],
		[{ startedAt: nine, endedAt: '2027-04-02T09:00:01Z' }, '/endedAt'],
		[{ startedAt: '2200-12-31T23:00:00Z', durationSeconds: 3600 }, '/durationSeconds'],
	])('is refused when it contradicts itself: %j', async (time, pointer) => {
		const id = await create()
		expect(await post(time)).toMatchObject(refused(422, 'invalid_time_entry', pointer))
		expect(await entries.patch(tenant, id, time)).toMatchObject(refused(422, 'invalid_time_entry', pointer))
		expect(await entries.ids(tenant)).toEqual([id])
		expect((await entries.read(tenant, id)).version).toBe(1)
	})
})

describe('a running entry', () => {
	const start = (body: object = {}, of = tenant) => entries.post(of, { dealId, ...body })
	const isRefused = (id: string) => {
		const error = { pointer: '/userId', code: 'timer_running', detail: expect.stringContaining(id) }
		return { status: 409, body: { code: 'timer_running', detail: expect.stringContaining(id), errors: [error] } }
	}

	it.each([['ada'], [null], [undefined]])('is the only one of its user: %s', async (userId) => {
		const id = await create({ userId })
		const stopped = await create({ userId, ...worked })
		expect(await start({ userId })).toMatchObject(isRefused(id))
		expect(await entries.patch(tenant, stopped, { endedAt: null })).toMatchObject(isRefused(id))
		const other = await create({ userId: 'eve' })
		expect(await entries.patch(tenant, other, { userId: userId ?? null })).toMatchObject(isRefused(id))
		expect(await entries.ids(tenant)).toHaveLength(3)
		expect(await entries.changed(tenant, id, { description: 'On it', startedAt: nine })).toMatchObject({ endedAt: null })
		await entries.changed(tenant, id, { endedAt: nine + hour })
		expect(await entries.changed(tenant, stopped, { endedAt: null })).toMatchObject({ endedAt: null })
		expect(await start({ userId })).toMatchObject(isRefused(stopped))
		await entries.remove(tenant, stopped)
		expect((await start({ userId })).status).toBe(201)
	})

	it('is one for each user, for those who are not named together, and in each organization', async () => {
		const one = await server.newTenant()
		for (const userId of ['ada', 'Ada', '', null]) {
			expect((await start({ userId })).status).toBe(201)
			expect((await start({ userId, dealId: await one.newDeal() }, one)).status).toBe(201)
			expect((await start({ userId })).status).toBe(409)
		}
	})

	it('starts once, when twenty requests start it at the same time', async () => {
		const stopped = await Promise.all(Array.from({ length: 10 }, () => create({ userId: 'ada', ...worked })))
		const answers = await Promise.all([
			...Array.from({ length: 10 }, () => start({ userId: 'ada' })),
			...stopped.map((id) => entries.patch(tenant, id, { endedAt: null })),
		])
		expect(answers.map(({ status }) => status).filter((status) => status !== 409)).toHaveLength(1)
		expect(answers.filter(({ status }) => status < 300)).toHaveLength(1)
	})

	it('goes on beside others of an older version, can change, and is the last once they are stopped', async () => {
		const ids = [await create(worked), await create(worked)]
		const { organizationId } = tenant
		await server.db.transaction((tx) => tx.run(runAll, { organizationId }))
		for (const id of ids) expect(await entries.changed(tenant, id, { taskName: 'Old' })).toMatchObject({ endedAt: null })
		expect(await start()).toMatchObject({ status: 409 })
		for (const id of ids) await entries.changed(tenant, id, { durationSeconds: 60 })
		expect((await start()).status).toBe(201)
	})

	const runAll = query<{ organizationId: string }>((knex, key) =>
		knex('time_entries').where(key).update({ endedAt: null, durationSeconds: null }),
	)
})

describe('the list of time entries', () => {
	it('shows those first that began last, whenever they were written', async () => {
		const ids: string[] = []
		for (const startedAt of [nine, nine + 2 * hour, nine - hour])
			ids.push(await create({ startedAt, userId: `user ${startedAt}` }))
		expect(await entries.ids(tenant)).toEqual([ids[1], ids[0], ids[2]])
		await entries.changed(tenant, ids[2] as string, { startedAt: nine + 3 * hour })
		expect(await entries.ids(tenant)).toEqual([ids[2], ids[1], ids[0]])
	})

	it('can be asked for a deal, an invoice, a status, and any of them together', async () => {
		const other = await tenant.newDeal()
		const ids = [await create(worked), await create(worked), await create({ dealId: other })]
		const invoiceId = (await invoiceTime(tenant, { dealId, timeEntryIds: [ids[0] as string] })).body.id
		const found = async (filters: Record<string, string>) =>
			(await entries.ids(tenant, filters)).map((id) => ids.indexOf(id)).toSorted()
		expect(await found({ dealId })).toEqual([0, 1])
		expect(await found({ invoiceId })).toEqual([0])
		expect(await found({ status: 'open' })).toEqual([1, 2])
		expect(await found({ status: 'invoiced' })).toEqual([0])
		expect(await found({ dealId, status: 'open' })).toEqual([1])
		expect(await found({ dealId, status: 'invoiced', invoiceId })).toEqual([0])
		expect(await found({ dealId: other, invoiceId })).toEqual([])
		for (const filter of ['dealId', 'invoiceId']) {
			for (const value of ['', 'unknown']) expect(await found({ [filter]: value })).toEqual([])
		}
		expect((await tenant.ask('GET', '/api/time-entries?status=running')).status).toBe(400)
	})
})

describe('an entry on an invoice', () => {
	it('cannot change in any way until it is off it', async () => {
		const id = await create(worked)
		const invoice = (await invoiceTime(tenant, { dealId, timeEntryIds: [id] })).body.id
		const before = await entries.read(tenant, id)
		expect(before).toMatchObject({ status: 'invoiced', invoiceId: invoice, version: 2 })
		for (const [method, body] of [
			['PATCH', {}],
			['PUT', { description: 'Other' }],
			['PATCH', { endedAt: null }],
			['DELETE'],
		] as const) {
			const { status, body: problem } = await tenant.ask(method, entries.at(id), { body })
			expect([status, problem.code, problem.detail]).toEqual([409, 'time_entry_invoiced', expect.stringContaining(invoice)])
		}
		expect(await entries.read(tenant, id)).toEqual(before)
		await tenant.ask('PATCH', `/api/invoices/${invoice}`, { body: { status: 'cancelled' } })
		expect(await entries.changed(tenant, id, { description: 'Free' })).toMatchObject({
			status: 'open',
			invoiceId: null,
			version: 4,
		})
		expect((await entries.remove(tenant, id)).status).toBe(200)
	})
})

describe('the events of a time entry', () => {
	it('tell of its beginning, each change and its end, by whom, and of nothing that was refused or changed nothing', async () => {
		const { id: actor, key } = await tenant.newKey(['time_entries:write'])
		const told = { actor: { type: 'api_key', id: actor }, resourceId: '' }
		const ask = (method: string, path: string, requestId: string, body?: object) =>
			tenant.ask(method, path, { key, body, headers: { 'x-request-id': requestId } })
		const id = (await ask('POST', '/api/time-entries', 'req-create', { dealId, startedAt: nine })).body.id
		told.resourceId = id
		const created = await entries.read(tenant, id)
		for (const body of [{}, { dealId }, { startedAt: nine }, { endedAt: nine - 1 }, { dealId: 'dl_unknown' }]) {
			await ask('PATCH', entries.at(id), 'req-nothing', body)
		}
		await ask('POST', '/api/time-entries', 'req-nothing', { dealId: 'dl_unknown' })
		server.clock.now++
		await ask('PATCH', entries.at(id), 'req-update', { endedAt: nine + hour, taskName: 'Checkout' })
		const updated = await entries.read(tenant, id)
		await ask('DELETE', entries.at(id), 'req-delete')
		await ask('DELETE', entries.at(id), 'req-nothing')
		const timestamp = server.clock.now
		const changes = {
			endedAt: { from: null, to: nine + hour },
			durationSeconds: { from: null, to: 3600 },
			taskName: { from: null, to: 'Checkout' },
		}
		const [type, no] = ['time_entry', null]
		expect((await eventsOf(server, tenant)).filter(({ type }) => type.startsWith('time_entry.'))).toEqual([
			{
				...told,
				type: `${type}.created`,
				sequence: 1,
				timestamp: timestamp - 1,
				requestId: 'req-create',
				changes: no,
				data: created,
			},
			{ ...told, type: `${type}.updated`, sequence: 2, timestamp, requestId: 'req-update', changes, data: updated },
			{ ...told, type: `${type}.deleted`, sequence: 3, timestamp, requestId: 'req-delete', changes: no, data: updated },
		])
	})

	it('tell when an invoice takes it, and frees it', async () => {
		const id = await create(worked)
		const invoice = (await invoiceTime(tenant, { dealId, timeEntryIds: [id] })).body.id
		const taken = await entries.read(tenant, id)
		await tenant.ask('DELETE', `/api/invoices/${invoice}`)
		const [, claimed, freed, ...more] = await eventsOf(server, tenant, id)
		const changes = { status: { from: 'open', to: 'invoiced' }, invoiceId: { from: null, to: invoice } }
		expect(claimed).toMatchObject({ type: 'time_entry.updated', sequence: 2, changes, data: taken })
		expect(freed).toMatchObject({ type: 'time_entry.updated', sequence: 3, data: await entries.read(tenant, id) })
		expect(Object.keys(freed?.changes ?? {}).toSorted()).toEqual(['invoiceId', 'status'])
		expect(more).toEqual([])
	})

	it('have no gap, and follow from one another, when twenty change it at the same time', async () => {
		const id = await create()
		const answers = Array.from({ length: 20 }, (_, index) => entries.patch(tenant, id, { description: `Change ${index}` }))
		expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(20).fill(200))
		const events = await eventsOf(server, tenant, id)
		expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
		expect(events.map(({ data }) => data.version)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
		const said = events.slice(1).map(({ changes }) => changes?.description)
		expect(said.map((change) => change?.from)).toEqual([null, ...said.slice(0, -1).map((change) => change?.to)])
		expect(await entries.read(tenant, id)).toEqual(events.at(-1)?.data)
	})
})
