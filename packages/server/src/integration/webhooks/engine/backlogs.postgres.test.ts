// What is paused while other transactions have its deliveries, as engines of other processes do.
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startSubscriber, succeeded } from '../../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import { recordEvent } from '../../../platform/events/record.ts'
import { workOffBacklogs } from './backlogs.ts'
import { claimDeliveries } from './claim-store.ts'
import { completeDeliveries, type DeliveryResult } from './queue-store.ts'

let server: TestServer
let org: Awaited<ReturnType<typeof startSubscriber>>
let sql: pg.Client
/** As events have it. */
let company: string
beforeAll(async () => {
	// Nothing is delivered but what a test claims.
	server = await startTestServer({ ROLE: 'api' })
	sql = new pg.Client(server.settings.DATABASE_URL)
	await sql.connect()
})
beforeEach(async () => {
	org = await startSubscriber(server)
	const { id } = await org.tenant.remit.companies.create({ name: 'Acme' })
	company = JSON.stringify(await org.tenant.remit.companies.get(id))
	return async () => {
		await sql.query('rollback')
		await org.stop()
	}
})
afterAll(async () => {
	await sql.end()
	await server.close()
})

interface Row {
	readonly id: string
	readonly sequence: number
	readonly status: string
	readonly nextAttemptAt: number | null
}

const deliveries = async (): Promise<Row[]> =>
	(
		await sql.query(
			'select id, sequence, status, "nextAttemptAt" from webhook_deliveries where "organizationId" = $1 order by "resourceId", sequence',
			[org.tenant.organizationId],
		)
	).rows
const statuses = async () => (await deliveries()).map(({ status }) => status)

/** Records events of a record, in their order. */
const record = (resourceId: string, count: number) =>
	server.db.transaction(async (tx) => {
		const { organizationId } = org.tenant
		const event = { type: 'company.updated', resource: 'company', resourceId, data: company, organizationId } as const
		for (let n = 0; n < count; n++) await recordEvent(tx, bySystem(server.clock.now), event)
	})

const lock = async (id: string | undefined) => {
	await sql.query('begin')
	await sql.query('select from webhook_deliveries where id = $1 for update', [id])
}

it('A pause does not wait for a delivery that another transaction has, and skips it afterwards', async () => {
	const endpoint = await org.newEndpoint('company.*')
	await record('cmp_1', 2)
	await record('cmp_2', 1)
	for (const held of [0, 1]) {
		await org.tenant.remit.webhooks.endpoints.update(endpoint, { status: 'active' })
		await record('cmp_1', 2)
		const rows = (await deliveries()).filter(({ status }) => status === 'pending')
		await lock(rows[held]?.id)
		await org.tenant.remit.webhooks.endpoints.update(endpoint, { status: 'paused' })
		const others = (await deliveries()).filter(({ id }) => id !== rows[held]?.id)
		expect(new Set(others.map(({ status }) => status))).toEqual(new Set(['skipped']))
		await sql.query('commit')
		await workOffBacklogs(server.db, () => server.clock.now)
		expect(new Set(await statuses())).toEqual(new Set(['skipped']))
	}
})

/** Claims the endpoint's first delivery; returns the result of an attempt that succeeded. */
async function attempted(endpointId: string): Promise<DeliveryResult> {
	const { organizationId } = org.tenant
	const { now } = server.clock
	const leaseEnd = now + 30_000
	const [claimed] = await server.db.transaction((tx) =>
		claimDeliveries(tx, { organizationId, now, leaseEnd }, [{ endpointId, limit: 1 }]),
	)
	const attempt = { id: claimed?.deliveryId ?? '', leaseEnd, startedAt: now, endedAt: now + 1 }
	return succeeded({ organizationId, endpointId, ...attempt })
}

const complete = (result: DeliveryResult) => server.db.transaction((tx) => completeDeliveries(tx, [result]), { durable: false })

const oneWaits = () =>
	expect
		.poll(
			async () =>
				(await sql.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`))
					.rowCount,
		)
		.toBe(1)

it('A delivery is cancelled whose result did not see that its endpoint was deleted meanwhile', async () => {
	const endpointId = await org.newEndpoint('company.*')
	await record('cmp_1', 1)
	const result = await attempted(endpointId)
	await lock(result.id)
	const completed = complete({ ...result, status: 'retrying', nextAttemptAt: result.endedAt + 5_000 })
	await oneWaits()
	await org.tenant.remit.webhooks.endpoints.delete(endpointId)
	await sql.query('commit')
	await completed
	await workOffBacklogs(server.db, () => server.clock.now)
	expect((await deliveries()).map(({ status, nextAttemptAt }) => [status, nextAttemptAt])).toEqual([['cancelled', null]])
})

it('The result of a delivery makes the next one not due that was skipped meanwhile', async () => {
	const endpointId = await org.newEndpoint('company.*')
	await record('cmp_1', 2)
	const result = await attempted(endpointId)
	const [, behind] = await deliveries()
	await sql.query('begin')
	await sql.query(`update webhook_deliveries set status = 'skipped' where id = $1`, [behind?.id])
	const completed = complete(result)
	await oneWaits()
	await sql.query('commit')
	await completed
	expect((await deliveries()).map(({ status, nextAttemptAt }) => [status, nextAttemptAt])).toEqual([
		['succeeded', null],
		['skipped', null],
	])
})
