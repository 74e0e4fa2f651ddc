// Pausing, redelivering and deleting an endpoint with more deliveries than one transaction may change.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startSubscriber } from '../../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import { query, type Transaction } from '../../../platform/db/database.ts'
import { recordEvent } from '../../../platform/events/record.ts'
import { changeEndpoint } from '../endpoint-rules.ts'
import { endpoints } from '../endpoint-store.ts'
import { releaseOverlong } from './repair-store.ts'

/** Deliveries of which each fills several parts. */
const many = 1_100
/** The most rows that a transaction may change: a part of each of the two indexes. */
const mostRows = 500
const schedule = [0, 3_600, 3_600]

let server: TestServer
let org: Awaited<ReturnType<typeof startSubscriber>>
/** The most rows that one statement of a transaction has changed. */
let most = 0
beforeAll(async () => {
	server = await startTestServer({ WEBHOOK_RETRY_SECONDS: schedule })
	const { transaction } = server.db
	const watched = (tx: Transaction): Transaction => ({
		...tx,
		async run(query, params) {
			const changed = await tx.run(query, params)
			most = Math.max(most, changed)
			return changed
		},
		async all(query, params) {
			const rows = await tx.all(query, params)
			most = Math.max(most, rows.length)
			return rows
		},
	})
	server.db.transaction = (work, options) => transaction((tx) => work(watched(tx)), options)
})
beforeEach(async () => {
	org = await startSubscriber(server)
	most = 0
	return () => org.stop()
})
afterAll(() => server.close())

/** Records events of `records` companies in turn; the receiver asks for a pause, so that their deliveries wait. */
async function fill(count: number, records: number): Promise<void> {
	const { organizationId } = org.tenant
	for (let first = 0; first < count; first += 250) {
		await server.db.transaction(async (tx) => {
			for (let n = first; n < Math.min(count, first + 250); n++) {
				const resourceId = `cmp_${n % records}`
				const event = { type: 'company.updated', organizationId, resource: 'company', resourceId } as const
				await recordEvent(tx, bySystem(server.clock.now), { ...event, data: JSON.stringify({ ...company, name: `${n}` }) })
			}
		})
	}
}

let company: object
const total = async (status: string) => (await org.list({ status, limit: '1' })).meta.total ?? 0
const waiting = async () => (await total('pending')) + (await total('retrying')) + (await total('delivering'))
const poll = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 20_000 })
const waitsForPause = { status: 429, headers: { 'retry-after': '3600' } }

async function endpointWith(records: number): Promise<string> {
	org.sink.answer = waitsForPause
	const endpoint = await org.newEndpoint('company.*')
	const { id } = await org.tenant.remit.companies.create({ name: 'first' })
	company = await org.tenant.remit.companies.get(id)
	await poll(() => total('retrying')).toBe(1)
	await fill(many, records)
	return endpoint
}

/** As a process that is killed right after the commit: nothing but the rows knows what is left. */
async function pauseAndDie(endpoint: string): Promise<void> {
	const { organizationId } = org.tenant
	await server.db.transaction(async (tx) => {
		const stored = await endpoints.lock(tx, organizationId, endpoint)
		if (stored) await changeEndpoint({ db: tx, origin: bySystem(server.clock.now) }, stored, { status: 'paused' })
	})
}

const dueNow = query<{ endpointId: string }, object>((knex, { endpointId }) =>
	knex('webhook_deliveries').where({ endpointId }).whereNotNull('nextAttemptAt').select('id'),
)

it.each([
	{ waits: 'of as many records', records: many, pause: (endpoint: string) => org.setStatus(endpoint, 'paused') },
	{ waits: 'one behind the other', records: 1, pause: pauseAndDie },
])('deliveries $waits are skipped, made again in order and cancelled in parts', async ({ records, pause }) => {
	const endpoint = await endpointWith(records)
	await pause(endpoint)
	// What is left of the pause goes on, and nothing of it leaves, though the endpoint is active again.
	await org.setStatus(endpoint, 'active')
	await org.change('new')
	// Half of it takes longer than a request.
	if ((await total('skipped')) < many / 2)
		expect(await org.redeliverAll(endpoint)).toMatchObject({ status: 409, body: { code: 'delivery_under_way' } })
	await poll(() => total('skipped')).toBe(many + 1)
	org.sink.answer = { status: 204 }
	const before = org.sink.received.length
	// The receiver's pause is over.
	server.clock.now += 3_600_000
	await poll(() => total('succeeded')).toBe(1)
	expect(org.arrived().slice(before)).toEqual(['new'])

	org.sink.answer = waitsForPause
	await org.change('last')
	await poll(() => total('retrying')).toBe(1)
	expect((await org.redeliverAll(endpoint)).body).toEqual({ count: many + 2 })
	await poll(() => total('pending')).toBe(many + 2)
	// The first of each record, and the two companies of the test itself.
	expect(await server.db.all(dueNow, { endpointId: endpoint })).toHaveLength(records + 2)

	await org.tenant.remit.webhooks.endpoints.delete(endpoint)
	await poll(() => total('cancelled')).toBe(many + 2)
	expect(await waiting()).toBe(0)
	expect(most).toBeLessThanOrEqual(mostRows)
})

it('deliveries that succeeded or wait for a retry are made again in parts, one redelivery at a time', async () => {
	const endpoint = await endpointWith(many)
	org.sink.answer = { status: 204 }
	server.clock.now += 2 * 3_600_000
	await poll(() => total('succeeded')).toBe(many + 1)
	org.sink.answer = waitsForPause
	expect((await org.redeliverAll(endpoint, { status: 'all' })).body).toEqual({ count: many + 1 })
	const second = await org.redeliverAll(endpoint)
	if (second.status !== 200) expect(second).toMatchObject({ status: 409, body: { code: 'delivery_under_way' } })
	await poll(() => total('succeeded')).toBe(0)
	await poll(() => total('retrying')).toBeGreaterThan(0)
	expect(most).toBeLessThanOrEqual(mostRows)
})

const failAll = query<{ endpointId: string; now: number; later: number }>((knex, { endpointId, now, later }) =>
	knex('webhook_deliveries')
		.where({ endpointId })
		.update({ status: 'retrying', updatedAt: now, nextAttemptAt: later, scheduledAt: null }),
)

it('retries are brought forward in parts once the endpoint works', async () => {
	const endpoint = await endpointWith(many)
	const { now } = server.clock
	const failed = { endpointId: endpoint, now, later: now + 20 * 3_600_000 }
	await server.db.transaction((tx) => tx.run(failAll, failed))
	server.clock.now += 3_600_000
	org.sink.answer = { status: 204 }
	most = 0
	await org.change('new')
	await poll(() => total('succeeded')).toBe(many + 2)
	expect(most).toBeGreaterThan(100)
	expect(most).toBeLessThanOrEqual(mostRows)
})

it('deliveries that were due before the clock was set back are made due in parts', async () => {
	await endpointWith(many)
	const began = server.clock.now
	server.clock.now -= 3 * 86_400_000
	org.sink.answer = { status: 204 }
	most = 0
	await releaseOverlong(server.db, schedule, server.clock.now)
	await poll(waiting).toBe(0)
	expect(most).toBe(mostRows)
	server.clock.now = began
})
