// Which endpoints a turn of the engine finds while a queue drains.
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { newDatabase, settingsFor, type TestDatabase } from '../../../test/databases.ts'
import { encryptionKey } from '../../../test/leaks.ts'
import { bySystem } from '../../base/origin.ts'
import type { Database } from '../../db/database.ts'
import { openDatabase } from '../../db/drivers/open.ts'
import { writingIn } from '../../db/write-context.ts'
import { recordEvent } from '../../events/record.ts'
import { createOrganization } from '../../organizations/store.ts'
import { openSecrets } from '../../outside/secrets.ts'
import { createEndpoint, endpoints } from '../endpoint-store.ts'
import { claimDeliveries, releaseDeliveries } from './queue-store.ts'
import { Targets } from './targets.ts'

const secrets = openSecrets({ ENCRYPTION_KEYS: encryptionKey(1), DATA_DIR: '' })

let database: TestDatabase
let db: Database
let clock: number
let targets: Targets
beforeEach(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	db = await openDatabase(settingsFor(database.settings), pino({ level: 'silent' }))
	clock = 0
	targets = new Targets(() => clock)
})
afterEach(async () => {
	await db.close()
	await database.drop()
})

interface Owner {
	readonly organizationId: string
	readonly endpointId: string
}

/** An organization with an endpoint. */
const newOwner = () =>
	db.transaction(async (tx): Promise<Owner> => {
		const organization = await createOrganization(tx, bySystem(0), { name: 'Test Ltd' })
		const endpoint = { url: 'https://receiver.example', eventTypes: ['company.*'] }
		const { id } = await createEndpoint(await writingIn(tx, bySystem(0), organization), secrets, endpoint)
		return { organizationId: organization.id, endpointId: id }
	})

/** An event of each of these records, which becomes due at `now`. */
const record = ({ organizationId }: Owner, now: number, ...resourceIds: string[]) =>
	db.transaction(async (tx) => {
		for (const resourceId of resourceIds) {
			const event = { type: 'company.updated', resource: 'company', resourceId, data: '{}', organizationId } as const
			await recordEvent(tx, bySystem(now), event)
		}
	})

const found = async (now: number, how: 'find' | 'findAgain' = 'findAgain') => {
	const all = await targets[how](db, now)
	return all.map(({ endpointId }) => endpointId)
}

/** Claims one delivery by what the last look-up found. */
async function claim({ endpointId }: Owner, now: number) {
	const target = (await targets.findAgain(db, now)).find((one) => one.endpointId === endpointId)
	if (!target) return []
	const { organizationId, due: from } = target
	return db.transaction((tx) => claimDeliveries(tx, { organizationId, endpointId, now, limit: 1, from }, now + 30_000))
}

describe('while a queue drains', () => {
	let busy: Owner
	let other: Owner
	beforeEach(async () => {
		;[busy, other] = [await newOwner(), await newOwner()]
		await record(busy, 10, 'cmp_1', 'cmp_2')
		await record(busy, 20, 'cmp_3')
	})

	it('each of its deliveries is claimed once, in the order in which they became due', async () => {
		await found(30, 'find')
		const claimed = []
		for (let n = 0; n < 4; n++) claimed.push(...(await claim(busy, 30)))
		expect(claimed.map(({ resourceId }) => resourceId)).toEqual(['cmp_1', 'cmp_2', 'cmp_3'])
	})

	it('another endpoint is found a tenth of a second later', async () => {
		await found(30, 'find')
		await record(other, 30, 'cmp_4')
		clock = 100
		expect((await found(30)).sort()).toEqual([busy.endpointId, other.endpointId].sort())
	})

	it('another endpoint is found at once when nothing is left in the queue', async () => {
		await found(30, 'find')
		await record(other, 30, 'cmp_4')
		for (let n = 0; n < 3; n++) await claim(busy, 30)
		expect(await found(30)).toEqual([other.endpointId])
	})

	it('what was returned to it is claimed a tenth of a second later, before what became due after it', async () => {
		await found(30, 'find')
		const [first] = await claim(busy, 30)
		await claim(busy, 30)
		const returned = { organizationId: busy.organizationId, id: first?.deliveryId ?? '', leaseEnd: 30_030 }
		await db.transaction((tx) => releaseDeliveries(tx, [returned]))
		clock = 100
		expect(await claim(busy, 30)).toMatchObject([{ resourceId: 'cmp_1' }])
	})

	it('an endpoint that is paused is not found again', async () => {
		await found(30, 'find')
		await db.transaction(async (tx) => {
			const endpoint = await endpoints.lock(tx, busy.organizationId, busy.endpointId)
			if (endpoint) await endpoints.update({ db: tx, origin: bySystem(30) }, endpoint, { status: 'paused' })
		})
		expect(await found(30)).toEqual([])
	})
})
