// Of which endpoints a turn of the engine claims while a queue drains.
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { newDatabase, settingsFor, type TestDatabase } from '../../../../test/databases.ts'
import { encryptionKey } from '../../../../test/leaks.ts'
import { createOrganization } from '../../../introductions.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import type { Database } from '../../../platform/db/database.ts'
import { openDatabase } from '../../../platform/db/drivers/open.ts'
import { writingIn } from '../../../platform/db/write-context.ts'
import { recordEvent } from '../../../platform/events/record.ts'
import { openSecrets } from '../../../platform/outside/secrets.ts'
import { Lanes } from '../../../platform/work/lanes.ts'
import { createEndpoint, endpoints } from '../endpoint-store.ts'
import type { Target } from './claim-store.ts'
import { type Claimed, Claims } from './claims.ts'
import { lapseMovedHost, proveHosts } from './host-store.ts'
import { releaseDeliveries } from './queue-store.ts'

const laneLimits = {
	slots: 200,
	slotsOf: { untried: 5, works: 25, fails: 2 },
	silentMs: 2_000,
	...{ slotsPerHost: 100, hostRate: 0, failuresBeforeRest: 10, restMs: 100 },
}

const secrets = openSecrets({ ENCRYPTION_KEYS: encryptionKey(1), DATA_DIR: '' })

let database: TestDatabase
let db: Database
let clock: number
let at: number
let claims: Claims
let last: Claimed | undefined
beforeEach(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	db = await openDatabase(settingsFor(database.settings), pino({ level: 'silent' }))
	clock = 0
	const lanes = new Lanes<Target>(({ endpointId }) => endpointId, laneLimits)
	claims = new Claims({ db, now: () => at, lanes, leaseMs: 30_000, monotonic: () => clock })
	last = undefined
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
		await proveHosts(tx, new Map([['receiver.example', []]]), 0)
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

const change = ({ organizationId, endpointId }: Owner, changes: Parameters<typeof endpoints.update>[2]) =>
	db.transaction(async (tx) => {
		const endpoint = await endpoints.lock(tx, organizationId, endpointId)
		if (endpoint) await endpoints.update({ db: tx, origin: bySystem(30) }, endpoint, changes)
	})

/** Claims up to so many deliveries as a turn does that is one of many: of which endpoints and records. */
async function claim(now: number, most = 1): Promise<(readonly [endpointId: string, resourceId: string])[]> {
	at = now
	const { claimed } = await db.transaction((tx) => claims.make(tx, { most, at: now, isBusy: true }))
	const all = await claimed
	last = all.at(-1)
	return all.map(({ delivery: { endpointId, resourceId } }) => [endpointId, resourceId])
}

describe('while a queue drains', () => {
	let busy: Owner
	let other: Owner
	beforeEach(async () => {
		;[busy, other] = [await newOwner(), await newOwner()]
		await record(busy, 10, 'cmp_1', 'cmp_2')
		await record(busy, 20, 'cmp_3')
	})
	const ofBusy = (resourceId: string) => [busy.endpointId, resourceId] as const
	const ofOther = (resourceId: string) => [other.endpointId, resourceId] as const

	it('each of its deliveries is claimed once, in the order in which they became due', async () => {
		const claimed = []
		for (let n = 0; n < 4; n++) claimed.push(...(await claim(30)))
		expect(claimed).toEqual([ofBusy('cmp_1'), ofBusy('cmp_2'), ofBusy('cmp_3')])
	})

	it('another endpoint is found a tenth of a second later', async () => {
		await claim(30)
		await record(other, 30, 'cmp_4')
		clock = 100
		expect((await claim(30, 2)).sort()).toEqual([ofBusy('cmp_2'), ofOther('cmp_4')].sort())
	})

	it('another endpoint is found at once when nothing is left in the queue', async () => {
		await record(other, 30, 'cmp_4')
		expect(await claim(20, 5)).toHaveLength(3)
		expect(await claim(30)).toEqual([ofOther('cmp_4')])
	})

	it('what was returned to it is claimed a tenth of a second later, before what became due after it', async () => {
		await claim(30)
		const returned = { organizationId: busy.organizationId, id: last?.delivery.deliveryId ?? '', leaseEnd: last?.leaseEnd ?? 0 }
		expect(await claim(30)).toEqual([ofBusy('cmp_2')])
		await db.transaction((tx) => releaseDeliveries(tx, [returned]))
		clock = 100
		expect(await claim(30)).toEqual([ofBusy('cmp_1')])
	})

	it('nothing more is claimed of an endpoint once it is paused', async () => {
		await claim(30)
		await change(busy, { status: 'paused' })
		expect(await claim(30)).toEqual([])
	})

	it('what is claimed goes where the endpoint is by then', async () => {
		await claim(30)
		await change(busy, { url: 'https://receiver.example/new' })
		const claimed = [...(await claim(30)), ...(await claim(30))]
		expect(claimed[0]).toEqual(ofBusy('cmp_2'))
		expect(last?.target.url).toBe('https://receiver.example/new')
	})

	it('one at most is claimed of an endpoint whose host is on probation again', async () => {
		await claim(30)
		await db.transaction((tx) => lapseMovedHost(tx, 'receiver.example', 1_000))
		expect([...(await claim(30, 5)), ...(await claim(30, 5))]).toHaveLength(1)
	})
})

it('A claim takes no more of an organization than half of all that may be under way, however many endpoints it has', async () => {
	const hosts = Array.from({ length: 25 }, (_, n) => `receiver${n}.example`)
	const owner = await db.transaction(async (tx): Promise<Owner> => {
		const organization = await createOrganization(tx, bySystem(0), { name: 'Test Ltd' })
		const write = await writingIn(tx, bySystem(0), organization)
		for (const host of hosts) await createEndpoint(write, secrets, { url: `https://${host}`, eventTypes: ['company.*'] })
		await proveHosts(tx, new Map(hosts.map((host) => [host, []])), 0)
		return { organizationId: organization.id, endpointId: '' }
	})
	await record(owner, 10, 'cmp_1', 'cmp_2', 'cmp_3', 'cmp_4', 'cmp_5')
	expect(await claim(30, 200)).toHaveLength(100)
})
