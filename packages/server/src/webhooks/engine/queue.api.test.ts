// Two servers hold the lease of a delivery one after the other.
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { newDatabase, settingsFor, type TestDatabase } from '../../../test/databases.ts'
import { encryptionKey } from '../../../test/leaks.ts'
import { bySystem } from '../../base/origin.ts'
import { type Database, query } from '../../db/database.ts'
import { openDatabase } from '../../db/open.ts'
import { writingIn } from '../../db/write-context.ts'
import { recordEvent } from '../../events/record.ts'
import { createOrganization } from '../../organizations/store.ts'
import { openSecrets } from '../../outside/secrets.ts'
import { createEndpoint } from '../endpoint-store.ts'
import { type ClaimedDelivery, claimDeliveries, completeDeliveries, type DeliveryResult } from './queue-store.ts'

const secrets = openSecrets({ ENCRYPTION_KEYS: encryptionKey(1), DATA_DIR: '' })

interface Row {
	readonly sequence: number
	readonly status: string
	readonly attemptCount: number
	readonly nextAttemptAt: number | null
	readonly attempts: number
}

const rows = query<object, Row>((knex) =>
	knex('webhook_deliveries as d')
		.orderBy('sequence')
		.select('sequence', 'attemptCount', 'nextAttemptAt')
		.select(knex.raw(`case when leased then 'delivering' else status end as status`))
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

const take = (now: number, leaseEnd: number) => db.transaction((tx) => claimDeliveries(tx, { ...owner, now, limit: 5 }, leaseEnd))
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
	const done = { sequence: 1, status: 'succeeded', attemptCount: 1, nextAttemptAt: null, attempts: 1 }
	const next = { sequence: 2, status: 'pending', attemptCount: 0, attempts: 0 }

	it('counts for the second one only, and the next of its record waits for that', async () => {
		await write(first)
		const claimed = { sequence: 1, status: 'delivering', attemptCount: 0, nextAttemptAt: 200, attempts: 0 }
		expect(await db.all(rows, {})).toEqual([claimed, { ...next, nextAttemptAt: null }])
		await write(second)
		expect(await db.all(rows, {})).toEqual([done, { ...next, nextAttemptAt: 120 }])
	})

	it('counts once when both end together', async () => {
		await write(second, first)
		expect(await db.all(rows, {})).toEqual([done, { ...next, nextAttemptAt: 120 }])
	})
})
