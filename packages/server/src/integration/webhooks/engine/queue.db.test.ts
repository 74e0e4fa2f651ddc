// What holds a lease of a delivery: of two servers one after the other, and beside changes that wait for the claim.
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { newDatabase, settingsFor, type TestDatabase } from '../../../../test/databases.ts'
import { encryptionKey } from '../../../../test/leaks.ts'
import { createOrganization } from '../../../introductions.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import { type Database, type Db, query } from '../../../platform/db/database.ts'
import { openDatabase } from '../../../platform/db/drivers/open.ts'
import { writingIn } from '../../../platform/db/write-context.ts'
import { recordEvent } from '../../../platform/events/record.ts'
import { openSecrets } from '../../../platform/outside/secrets.ts'
import { endWaiting } from '../backlog-store.ts'
import { lockDelivery } from '../delivery-store.ts'
import { createEndpoint } from '../endpoint-store.ts'
import { deliverAllAgain } from '../redelivery-store.ts'
import { type ClaimedDelivery, claimDeliveries, findTargets } from './claim-store.ts'
import { completeDeliveries, type DeliveryResult } from './queue-store.ts'

const secrets = openSecrets({ ENCRYPTION_KEYS: encryptionKey(1), DATA_DIR: '' })

interface Row {
	readonly sequence: number
	readonly status: string
	readonly attemptCount: number
	readonly nextAttemptAt: number | null
	readonly leaseEnd: number | null
	readonly attempts: number
}

const rows = query<object, Row>((knex) =>
	knex('webhook_deliveries as d')
		.orderBy('sequence')
		.select('sequence', 'status', 'attemptCount', 'nextAttemptAt', 'leaseEnd')
		.select(knex.raw('(select count(*) from webhook_attempts a where a."deliveryId" = d.id) as attempts')),
)

let database: TestDatabase
let db: Database
let owner: { organizationId: string; endpointId: string }
beforeEach(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	db = await openDatabase(settingsFor(database.settings), pino({ level: 'silent' }))
	owner = await db.transaction(async (tx) => {
		const organization = await createOrganization(tx, bySystem(0), { name: 'Test Ltd' })
		const { id: organizationId } = organization
		const endpoint = { url: 'https://receiver.example', eventTypes: ['company.*'] }
		const { id } = await createEndpoint(await writingIn(tx, bySystem(0), organization), secrets, endpoint)
		const event = { type: 'company.updated', resource: 'company', resourceId: 'cmp_1', data: '{}', organizationId } as const
		for (const now of [1, 2]) await recordEvent(tx, bySystem(now), event)
		return { organizationId, endpointId: id }
	})
})
afterEach(async () => {
	await db.close()
	await database.drop()
})

const claim = (tx: Db, now: number, leaseEnd: number) =>
	claimDeliveries(tx, { organizationId: owner.organizationId, now, leaseEnd }, [{ endpointId: owner.endpointId, limit: 5 }])
const take = (now: number, leaseEnd: number) => db.transaction((tx) => claim(tx, now, leaseEnd))
const success = (
	{ deliveryId, resourceId, sequence, attemptCount }: ClaimedDelivery,
	leaseEnd: number,
	endedAt: number,
): DeliveryResult => {
	const answer = { responseStatus: 204, responseBody: '', error: null, startedAt: endedAt, durationMs: 1, endedAt }
	const done = {
		id: deliveryId,
		resourceId,
		number: attemptCount + 1,
		sequence,
		wasOutOfOrder: false,
		leaseEnd,
		status: 'succeeded',
		nextAttemptAt: null,
		scheduledAt: null,
		counts: 1,
		request: null,
	} as const
	return { ...owner, ...done, ...answer }
}
const write = (...results: DeliveryResult[]) => db.transaction((tx) => completeDeliveries(tx, results))

describe('a delivery that was claimed again after its lease', () => {
	let first: DeliveryResult
	let second: DeliveryResult
	beforeEach(async () => {
		const [one] = (await take(10, 100)) as [ClaimedDelivery]
		const [other] = (await take(100, 200)) as [ClaimedDelivery]
		expect([one.sequence, other.sequence]).toEqual([1, 1])
		first = success(one, 100, 110)
		second = success(other, 200, 120)
	})
	const done = { sequence: 1, status: 'succeeded', attemptCount: 1, nextAttemptAt: null, leaseEnd: null, attempts: 1 }
	const next = { sequence: 2, status: 'pending', attemptCount: 0, leaseEnd: null, attempts: 0 }

	it('counts for the second one only, and the next of its record waits for that', async () => {
		await write(first)
		const claimed = { sequence: 1, status: 'pending', attemptCount: 0, nextAttemptAt: 1, leaseEnd: 200, attempts: 0 }
		expect(await db.all(rows, {})).toEqual([claimed, { ...next, nextAttemptAt: null }])
		await write(second)
		expect(await db.all(rows, {})).toEqual([done, { ...next, nextAttemptAt: 120 }])
	})

	it('counts once when both end together', async () => {
		await write(second, first)
		expect(await db.all(rows, {})).toEqual([done, { ...next, nextAttemptAt: 120 }])
	})

	it('counts once when it was returned and claimed again within a millisecond, and both end together', async () => {
		await write(second, second)
		expect(await db.all(rows, {})).toEqual([done, { ...next, nextAttemptAt: 120 }])
	})
})

describe('a delivery that is under way', () => {
	const hour = 3_600_000
	const claimable = async (now: number) => [(await findTargets(db, now)).length, (await take(now, now + 30_000)).length]

	it('is claimed by nobody until its lease ends', async () => {
		expect(await take(hour, hour + 30_000)).toHaveLength(1)
		expect(await claimable(hour + 29_999)).toEqual([0, 0])
		expect(await claimable(hour + 30_000)).toEqual([1, 1])
	})

	it('is claimed by nobody while an attempt may take as long as any', async () => {
		// The largest WEBHOOK_TIMEOUT_SECONDS, and the engine's margin.
		expect(await take(hour, hour + 60_000 + 15_000)).toHaveLength(1)
		expect(await claimable(hour)).toEqual([0, 0])
	})

	it('is claimed again when the clock was set back, and its lease would end later than any can', async () => {
		expect(await take(25 * hour, 25 * hour + 30_000)).toHaveLength(1)
		expect(await claimable(hour)).toEqual([1, 1])
		expect(await claimable(hour)).toEqual([0, 0])
	})
})

// SQLite has one writer: nothing waits for a claim.
if (inject('database') === 'postgres')
	describe('beside a claim that has not been committed', () => {
		const waiting = query<object, { pid: number }>((knex) =>
			knex('pg_stat_activity').whereRaw(`datname = current_database() and wait_event_type = 'Lock'`).select('pid'),
		)
		const key = () => ({ organizationId: owner.organizationId, id: owner.endpointId })
		// What the database does for servers of before must not be what keeps this right.
		const dropTrigger = query<object>((knex) => knex.raw('drop trigger webhook_deliveries_keep_leases on webhook_deliveries'))
		beforeEach(() => db.transaction((tx) => tx.run(dropTrigger, {})))

		/** Claims a delivery that waits for its second attempt, begins `work` before the commit, and writes that the attempt succeeded. */
		async function claimBefore<T>(
			work: (tx: Db, deliveryId: string) => Promise<T>,
			waits = true,
		): Promise<{ answer: T; row: Row | undefined }> {
			const [first] = (await take(10, 100)) as [ClaimedDelivery]
			const failed = { status: 'retrying', nextAttemptAt: 30, error: 'answered 500' } as const
			await write({ ...success(first, 100, 20), ...failed })
			const { working, claimed } = await db.transaction(async (tx) => {
				const [claimed] = await claim(tx, 30, 130)
				const working = db.transaction((other) => work(other, first.deliveryId))
				if (waits) await expect.poll(() => db.all(waiting, {}), { interval: 10 }).toHaveLength(1)
				else await working
				return { working, claimed: claimed as ClaimedDelivery }
			})
			const answer = await working
			await write(success(claimed, 130, 50))
			return { answer, row: (await db.all(rows, {}))[0] }
		}

		it('a redelivery finds the delivery under way', async () => {
			const { answer } = await claimBefore((tx, id) => lockDelivery(tx, { ...owner, id }))
			expect(answer?.status).toBe('delivering')
		})

		it('a redelivery of all leaves it to the attempt', async () => {
			const { answer, row } = await claimBefore((tx) => deliverAllAgain(tx, key(), null, 0, 40))
			expect(answer).toMatchObject({ count: 0 })
			expect(row).toMatchObject({ status: 'succeeded', attemptCount: 2, nextAttemptAt: null })
		})

		it('a pause does not wait, and leaves it to the attempt', async () => {
			const { row } = await claimBefore((tx) => endWaiting(tx, key(), 'skipped', 40), false)
			expect(row).toMatchObject({ status: 'succeeded', attemptCount: 2, nextAttemptAt: null, leaseEnd: null, attempts: 2 })
		})
	})
