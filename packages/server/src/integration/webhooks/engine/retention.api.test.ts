// Events, deliveries and attempts are removed after the retention, once they are done.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { Sink } from '../../../../test/sink.ts'
import { bySystem } from '../../../platform/base/origin.ts'
import { query } from '../../../platform/db/database.ts'
import { recordEvent } from '../../../platform/events/record.ts'
import { scheduleJob } from '../../../platform/work/jobs-store.ts'
import { jobKinds } from '../../../platform/work/kinds.ts'
import { proveHosts } from './host-store.ts'
import { sweepHosts } from './retention-store.ts'

const day = 86_400_000
const keptDays = 30

let server: TestServer
let tenant: Tenant
let sink: Sink
beforeAll(async () => {
	server = await startTestServer({ WEBHOOK_RETRY_SECONDS: [0, 86_400] })
})
beforeEach(async () => {
	tenant = await server.newTenant()
	sink = await new Sink().start()
	return async () => {
		expect(sink.problems).toEqual([])
		await sink.stop()
	}
})
afterAll(() => server.close())

const newEndpoint = () => sink.subscribe(tenant.remit, 'company.*')
const statuses = async () => (await tenant.remit.webhooks.deliveries.list()).data.map(({ status }) => status)
const settle = (...expected: string[]) => expect.poll(statuses, { timeout: 10_000 }).toEqual(expected)
const count = async (table: string) =>
	(
		await server.db.all(
			query<{ organizationId: string }, object>((knex, mine) => knex(table).where(mine).select('organizationId')),
			{ organizationId: tenant.organizationId },
		)
	).length
const counts = async () => ({
	events: await count('events'),
	deliveries: await count('webhook_deliveries'),
	attempts: await count('webhook_attempts'),
})
/** Runs what is due, and the tenant's removal although it may have run within the hour. */
const sweep = async () => {
	const job = { organizationId: tenant.organizationId, kind: jobKinds.retention, resourceId: '' }
	await server.db.transaction((tx) => scheduleJob(tx, { ...job, dueAt: server.clock.now }))
	await server.runJobs()
}
const sequences = async (id: string) => (await eventsOf(server, tenant, id)).map(({ sequence }) => sequence)

/** Creates a company with `count` events; returns its id. */
async function fill({ organizationId, remit }: Tenant, count: number): Promise<string> {
	const company = await remit.companies.get((await remit.companies.create({ name: 'a' })).id)
	const event = { type: 'company.updated', organizationId, resource: 'company', resourceId: company.id } as const
	await server.db.transaction(async (tx) => {
		for (let made = 1; made < count; made++)
			await recordEvent(tx, bySystem(server.clock.now), { ...event, data: JSON.stringify(company) })
	})
	return company.id
}

describe('after the retention', () => {
	it('events, deliveries and attempts go, but for the last event of each record', async () => {
		await newEndpoint()
		const { id } = await tenant.remit.companies.create({ name: 'a' })
		for (const name of ['b', 'c']) {
			server.clock.now += 1000
			await tenant.remit.companies.update(id, { name })
		}
		await settle('succeeded', 'succeeded', 'succeeded')
		const delivery = (await tenant.remit.webhooks.deliveries.list()).data.at(-1)
		// A delivery stays until the last moment of its 30 days.
		server.clock.now += keptDays * day - 2000
		await sweep()
		expect(await counts()).toEqual({ events: 3, deliveries: 3, attempts: 3 })
		server.clock.now += 1
		await sweep()
		expect(await counts()).toEqual({ events: 2, deliveries: 2, attempts: 2 })
		const gone = await tenant.ask('GET', `/webhooks/deliveries/${delivery?.id}`)
		expect(gone).toMatchObject({ status: 404, body: { code: 'webhook_delivery_not_found' } })
		expect((await tenant.ask('GET', `/webhooks/events/${delivery?.eventId}`)).status).toBe(404)
		server.clock.now += day
		await sweep()
		expect(await counts()).toEqual({ events: 1, deliveries: 0, attempts: 0 })
		expect(await sequences(id)).toEqual([3])
	})

	it('the sequence of a record goes on, in deliveries too', async () => {
		await newEndpoint()
		const { id } = await tenant.remit.companies.create({ name: 'a' })
		await tenant.remit.companies.update(id, { name: 'b' })
		await sink.events(2)
		server.clock.now += 40 * day
		await sweep()
		await tenant.remit.companies.update(id, { name: 'c' })
		expect((await sink.events(3)).map(({ sequence }) => sequence)).toEqual([1, 2, 3])
		server.clock.now += 40 * day
		await sweep()
		await tenant.remit.companies.delete(id)
		expect(await sequences(id)).toEqual([3, 4])
		server.clock.now += 40 * day
		await sweep()
		expect(await sequences(id)).toEqual([4])
	})

	it('more goes than one transaction removes, of every organization, and a second sweep finds nothing', async () => {
		const stranger = await server.newTenant()
		const id = await fill(tenant, 1101)
		await fill(stranger, 2)
		server.clock.now += 31 * day
		await server.runJobs()
		expect(await sequences(id)).toEqual([1101])
		expect((await eventsOf(server, stranger)).map(({ sequence }) => sequence)).toEqual([2])
		// Deliveries of other tests end meanwhile, since the clock was moved.
		const left = await counts()
		await sweep()
		expect(await counts()).toEqual(left)
	})

	it('a reader whose last event is gone goes on where it stood', async () => {
		const { id } = await tenant.remit.companies.create({ name: 'a' })
		const feed = (cursor?: string) => tenant.remit.webhooks.events.list(cursor === undefined ? {} : { cursor })
		await expect.poll(async () => (await feed()).data, { timeout: 10_000 }).toHaveLength(1)
		const cursor = (await feed()).meta.nextCursor as string
		server.clock.now += 31 * day
		await tenant.remit.companies.update(id, { name: 'b' })
		await sweep()
		await expect.poll(async () => (await feed(cursor)).data, { timeout: 10_000 }).toMatchObject([{ data: { name: 'b' } }])
	})

	it('a delivery that is not done stays with its event and its attempts until it is, and so does what waits for it', async () => {
		const endpoint = await newEndpoint()
		const setStatus = (status: 'active' | 'paused') => tenant.remit.webhooks.endpoints.update(endpoint, { status })
		await setStatus('paused')
		const { id } = await tenant.remit.companies.create({ name: 'a' })
		server.clock.now += 2 * day
		await tenant.remit.companies.update(id, { name: 'b' })
		// The redelivery is asked for shortly before the first delivery is as old as the retention.
		server.clock.now += 28 * day - 60_000
		sink.answer = { status: 500 }
		await setStatus('active')
		await tenant.remit.webhooks.endpoints.redeliver(endpoint)
		await settle('pending', 'retrying')
		sink.answer = { status: 204 }
		server.clock.now += 120_000
		await sweep()
		expect(await counts()).toEqual({ events: 2, deliveries: 2, attempts: 1 })
		server.clock.now += 1.2 * day
		await sink.events(3)
		expect(sink.received.map(({ event }) => event.sequence).sort()).toEqual([1, 1, 2])
		const left = { events: 1, deliveries: 1, attempts: 1 }
		// The server itself may sweep before all that was sent is seen as succeeded.
		await expect.poll(() => sweep().then(counts), { timeout: 10_000 }).toEqual(left)
	})
})

describe('what is known of a host', () => {
	const known = async () =>
		(
			await server.db.all(
				query<object, { host: string }>((knex) => knex('webhook_hosts').select('host')),
				{},
			)
		).map(({ host }) => host)
	const sweepAt = (now: number) => sweepHosts(server.db, now)

	it('goes a week after the last endpoint there, and so does a network that has not answered for a week', async () => {
		const { port } = new URL(sink.url)
		const url = `http://kept.example:${port}/`
		const { id, secret } = await tenant.remit.webhooks.endpoints.create({ url, eventTypes: ['company.*'] })
		sink.secrets.push(secret)
		await tenant.remit.companies.create({ name: 'a' })
		await settle('succeeded')
		const others = Array.from({ length: 450 }, (_, n): [string, string[]] => [`gone-${n}.example`, [`192.0.2.${n % 250}/32`]])
		await server.db.transaction((tx) => proveHosts(tx, new Map(others), server.clock.now))
		await sweepAt(server.clock.now + 7 * day)
		expect(await known()).toEqual(expect.arrayContaining(['kept.example', 'gone-0.example', '192.0.2.0/32']))
		expect(await sweepAt(server.clock.now + 7 * day + 1)).toBeGreaterThanOrEqual(450 + 250)
		expect((await known()).filter((host) => host.startsWith('gone') || host.includes('/'))).toEqual([])
		expect(await known()).toContain('kept.example')
		await tenant.remit.webhooks.endpoints.delete(id)
		await sweepAt(server.clock.now + 7 * day + 1)
		expect(await known()).not.toContain('kept.example')
	})

	it('stays for a network that answers, as the proof is written again each day', async () => {
		await newEndpoint()
		for (let days = 0; days < 9; days++) {
			await tenant.remit.companies.create({ name: 'a' })
			await sink.events(days + 1)
			await expect.poll(async () => new Set(await statuses()), { timeout: 10_000 }).toEqual(new Set(['succeeded']))
			await sweepAt(server.clock.now)
			server.clock.now += day
		}
		expect(await known()).toContain('127.0.0.1/32')
	})
})
