// What is paused while other transactions have its deliveries, as engines of other processes do.
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startSubscriber, succeeded } from '../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { bySystem } from '../../base/origin.ts'
import { recordEvent } from '../../events/record.ts'
import { workOffBacklogs } from './backlogs.ts'
import { claimDeliveries } from './claim-store.ts'
import { completeDeliveries } from './queue-store.ts'

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

it('The result of a delivery makes the next one not due that was skipped meanwhile', async () => {
	const { organizationId } = org.tenant
	const endpointId = await org.newEndpoint('company.*')
	await record('cmp_1', 2)
	const { now } = server.clock
	const leaseEnd = now + 30_000
	const [claimed] = await server.db.transaction((tx) =>
		claimDeliveries(tx, { organizationId, now, leaseEnd }, [{ endpointId, limit: 1 }]),
	)
	const [, behind] = await deliveries()
	await sql.query('begin')
	await sql.query(`update webhook_deliveries set status = 'skipped' where id = $1`, [behind?.id])
	const attempted = { id: claimed?.deliveryId ?? '', leaseEnd, startedAt: now, endedAt: now + 1 }
	const result = succeeded({ organizationId, endpointId, ...attempted })
	const completed = server.db.transaction((tx) => completeDeliveries(tx, [result]), { durable: false })
	await expect
		.poll(
			async () =>
				(await sql.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`))
					.rowCount,
		)
		.toBe(1)
	await sql.query('commit')
	await completed
	expect((await deliveries()).map(({ status, nextAttemptAt }) => [status, nextAttemptAt])).toEqual([
		['succeeded', null],
		['skipped', null],
	])
})
