// However many endpoints name a host, it is one neighbour; and until it has answered, a stranger.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { untilTried } from '../../../../test/hosts.ts'
import { Sink } from '../../../../test/sink.ts'
import { query } from '../../../platform/db/database.ts'
import { admitAttempt } from './host-store.ts'

const hostRate = 60

let server: TestServer
let sink: Sink
let hosts = 0
beforeAll(async () => {
	server = await startTestServer({ WEBHOOK_HOST_RATE: hostRate, WEBHOOK_RETRY_SECONDS: [0, 60, 60, 60] })
})
beforeEach(async () => {
	sink = await new Sink({ everyLibrary: false }).start()
	return async () => {
		expect(sink.problems).toEqual([])
		await sink.stop()
	}
})
afterAll(() => server.close())

/** A host of its own that reaches the sink. */
const newHost = () => `host-${++hosts}.example`

/** Creates `count` endpoints with different URLs on a host. */
async function subscribe({ remit }: Pick<Tenant, 'remit'>, host: string, count: number): Promise<void> {
	const { port } = new URL(sink.url)
	const from = sink.secrets.length
	for (let n = from; n < from + count; n++) {
		const url = `http://${host}:${port}/${n}`
		const { secret } = await remit.webhooks.endpoints.create({ url, eventTypes: ['company.created'] })
		sink.secrets.push(secret)
	}
}

/** Resolves once the engine has had the chance to make more attempts: a proven host has got one that was due later. */
async function othersHadTheirTurn(): Promise<void> {
	const tenant = await server.newTenant()
	const other = await new Sink({ everyLibrary: false }).start()
	await other.subscribe(tenant.remit, 'company.created')
	await tenant.remit.companies.create({ name: 'Another' })
	await other.events(1)
	await other.stop()
}

const minute = 60_000

const provenAt = query<{ host: string }, { provenAt: number | null }>((knex, { host }) =>
	knex('webhook_hosts').where({ host }).select('provenAt'),
)

const resting = query<{ host: string; attempts: number; after: number }, object>((knex, { host, attempts, after }) =>
	knex('webhook_hosts').where({ host, attempts }).where('leaseUntil', '>', after).select('host'),
)

/** Resolves once the host has had so many attempts of the hour, and rests after the last of them, which is longer than an attempt's lease. */
const untilResting = (host: string, attempts: number) =>
	vi.waitUntil(() => server.db.get(resting, { host, attempts, after: server.clock.now + minute }), {
		timeout: 20_000,
		interval: 5,
	})

const untilOnProbation = (host: string) =>
	vi.waitFor(async () => expect(await server.db.get(provenAt, { host })).toEqual({ provenAt: null }), { timeout: 20_000 })

const attemptsAt = ({ organizationId }: Tenant) => sink.received.filter(({ event }) => event.organizationId === organizationId)

/**
 * A host that has lapsed, where nobody's attempts succeed now: the endpoints of `failing` have failed for an hour, the `count` of
 * `working` have had one event each, before that.
 */
async function lapsedHost(count: number) {
	const host = newHost()
	const [failing, working] = [await server.newTenant(), await server.newTenant()]
	await subscribe(working, host, count)
	await subscribe(failing, host, 25)
	await working.remit.companies.create({ name: 'Works' })
	await failing.remit.companies.create({ name: 'Works' })
	await sink.events(count + 25, 30_000)
	sink.answer = { status: 404 }
	for (let n = 0; n < 3; n++) await failing.remit.companies.create({ name: `Fails ${n}` })
	await vi.waitFor(
		async () => expect((await failing.remit.webhooks.deliveries.list({ status: 'retrying', limit: 1 })).meta.total).toBe(75),
		{ timeout: 20_000 },
	)
	server.clock.now += 61 * minute
	await untilOnProbation(host)
	return { host, failing, working }
}

async function untilAllSucceeded({ remit }: Pick<Tenant, 'remit'>): Promise<void> {
	const isDone = async () =>
		(await remit.webhooks.deliveries.list({ limit: 100 })).data.every(({ status }) => status === 'succeeded')
	await vi.waitUntil(isDone, { timeout: 30_000, interval: 20 })
}

describe('a host that has not answered 2xx yet', () => {
	it('gets one attempt at a time, however many endpoints and organizations name it', async () => {
		const host = newHost()
		const [one, other] = [await server.newTenant(), await server.newTenant()]
		sink.answer = { hang: true }
		await subscribe(one, host, 10)
		await subscribe(other, host, 10)
		await one.remit.companies.create({ name: 'Acme' })
		await other.remit.companies.create({ name: 'Acme' })
		await sink.events(1)
		await othersHadTheirTurn()
		expect(sink.received).toHaveLength(1)
	})

	it('gets 20 attempts an hour, then 20 more', async () => {
		const host = newHost()
		const tenant = await server.newTenant()
		sink.answer = { status: 404 }
		await subscribe(tenant, host, 30)
		const began = server.clock.now
		await tenant.remit.companies.create({ name: 'Acme' })
		await untilTried(server, host)
		for (const minutes of [0, 55, 59]) {
			server.clock.now = Math.max(server.clock.now, began + minutes * minute)
			await othersHadTheirTurn()
			expect(sink.received).toHaveLength(20)
		}
		server.clock.now = began + 61 * minute
		await sink.events(25)
		await untilTried(server, host)
		await othersHadTheirTurn()
		expect(sink.received).toHaveLength(40)
	})

	it('gets those 20 over the hour, so that one that begins to work need not wait for the next', async () => {
		const host = newHost()
		const tenant = await server.newTenant()
		const began = server.clock.now
		sink.answer = { status: 404 }
		await subscribe(tenant, host, 1)
		for (let n = 0; n < 30; n++) await tenant.remit.companies.create({ name: `Company ${n}` })
		await untilTried(server, host, 5)
		await othersHadTheirTurn()
		expect(sink.received).toHaveLength(5)
		expect(server.clock.now).toBe(began)
		sink.answer = { status: 204 }
		server.clock.now += 75_000
		await untilAllSucceeded(tenant)
	})

	it('gets a test at once, which is one of those 20', async () => {
		const host = newHost()
		const tenant = await server.newTenant()
		sink.answer = { status: 404 }
		await subscribe(tenant, host, 1)
		const [endpoint] = (await tenant.remit.webhooks.endpoints.list()).data
		const test = () => tenant.remit.webhooks.endpoints.test(endpoint?.id ?? '')
		for (let n = 0; n < 5; n++) await tenant.remit.companies.create({ name: `Company ${n}` })
		await untilTried(server, host, 5)
		const began = server.clock.now
		for (let tried = 6; tried <= 20; tried++) {
			await test()
			await untilResting(host, tried)
		}
		await test()
		await othersHadTheirTurn()
		expect(sink.received).toHaveLength(20)
		expect(server.clock.now).toBe(began)
		sink.answer = { status: 204 }
		server.clock.now += 61 * minute
		await untilAllSucceeded(tenant)
	})

	it('gets all that waits as soon as it has answered 2xx once', async () => {
		const host = newHost()
		const tenant = await server.newTenant()
		let open = 0
		const most: number[] = []
		sink.answer = async (_, count) => {
			most.push(++open)
			await new Promise((resolve) => setTimeout(resolve, 20))
			open--
			return { status: count < 3 ? 500 : 204 }
		}
		await subscribe(tenant, host, 15)
		await tenant.remit.companies.create({ name: 'Acme' })
		await sink.events(15)
		expect(most.slice(0, 3)).toEqual([1, 1, 1])
		expect(Math.max(...most)).toBeGreaterThan(1)
	})
})

it('of several processes one gets the attempt, and the count outlives them', async () => {
	const host = newHost()
	const admit = () => server.db.transaction((tx) => admitAttempt(tx, host, 1_000, 2_000))
	const admitted = await Promise.all(Array.from({ length: 6 }, admit))
	expect(admitted.filter(Boolean)).toHaveLength(1)
	let more = 0
	for (let now = 2_000; now < 40_000; now += 1_000)
		if (await server.db.transaction((tx) => admitAttempt(tx, host, now, now + 1_000))) more++
	expect(more).toBe(19)
})

describe('a host that has answered', () => {
	it('goes back on probation after an hour of failures, and ends it with its next 2xx', async () => {
		const tenant = await server.newTenant()
		const { companies, webhooks } = tenant.remit
		const host = newHost()
		await subscribe(tenant, host, 20)
		await companies.create({ name: 'Taken' })
		await sink.events(20)
		sink.answer = { status: 404, body: '' }
		// A short outage of a busy receiver changes nothing.
		for (let n = 0; n < 3; n++) await companies.create({ name: `Failed ${n}` })
		await sink.events(80)
		server.clock.now += 61 * minute
		for (let n = 0; n < 3; n++) await companies.create({ name: `Waits ${n}` })
		await untilOnProbation(host)
		await untilTried(server, host)
		await othersHadTheirTurn()
		// Those that were under way at the fiftieth failure, and the 20 of an hour.
		expect(sink.received.length).toBeLessThanOrEqual(80 + hostRate + 20)
		const { data } = await webhooks.deliveries.list({ status: 'pending', limit: 100 })
		expect(new Set(data.map(({ attemptCount }) => attemptCount))).toEqual(new Set([0]))
		sink.answer = { status: 204 }
		server.clock.now += 61 * minute
		await vi.waitFor(async () => expect((await webhooks.deliveries.list({ status: 'pending' })).data).toEqual([]), {
			timeout: 20_000,
		})
	})

	it('has lapsed for those that failed there: an endpoint that works waits for none of them', async () => {
		const { host, working } = await lapsedHost(1)
		await untilTried(server, host)
		sink.answer = ({ event }) => ({ status: event.organizationId === working.organizationId ? 204 : 404 })
		await working.remit.companies.create({ name: 'At once' })
		await vi.waitUntil(() => attemptsAt(working).length === 2, { timeout: 30_000 })
		await untilAllSucceeded(working)
	})

	it('gets one attempt of each endpoint that worked before it lapsed, and then those of an hour from all', async () => {
		const { host, working } = await lapsedHost(25)
		await untilTried(server, host)
		for (let n = 0; n < 3; n++) await working.remit.companies.create({ name: `Company ${n}` })
		await vi.waitUntil(() => attemptsAt(working).length === 50, { timeout: 30_000 })
		const { data } = await working.remit.webhooks.endpoints.list({ limit: 50 })
		// Its owner cannot get another one for it.
		for (const { id } of data) await working.remit.webhooks.endpoints.update(id, { status: 'active' })
		for (let n = 0; n < 3; n++) await othersHadTheirTurn()
		expect(attemptsAt(working)).toHaveLength(50)
		expect(new Set(attemptsAt(working).map(({ path }) => path)).size).toBe(25)
		sink.answer = { status: 204 }
		server.clock.now += 61 * minute
		await untilAllSucceeded(working)
	})

	it('keeps its one attempt at a time while those endpoints have theirs', async () => {
		const { host, failing, working } = await lapsedHost(1)
		for (const { id } of (await failing.remit.webhooks.endpoints.list({ limit: 50 })).data)
			await failing.remit.webhooks.endpoints.update(id, { status: 'paused' })
		await vi.waitUntil(async () => (await failing.remit.webhooks.deliveries.list({ status: 'delivering' })).data.length === 0, {
			timeout: 10_000,
		})
		server.clock.now += 61 * minute
		const admit = () => server.db.transaction((tx) => admitAttempt(tx, host, server.clock.now, server.clock.now + minute))
		expect(await admit()).toBe(true)
		await working.remit.companies.create({ name: 'Fails' })
		const retrying = async () => (await working.remit.webhooks.deliveries.list({ status: 'retrying' })).data.length
		await vi.waitUntil(async () => (await retrying()) === 1, { timeout: 10_000 })
		expect(await admit()).toBe(false)
	})

	it('gets no more attempts a second than the setting says', async () => {
		const tenant = await server.newTenant()
		await subscribe(tenant, '127.0.0.1', 20)
		const began = performance.now()
		for (let n = 0; n < 10; n++) await tenant.remit.companies.create({ name: `Company ${n}` })
		await sink.events(200, 20_000)
		// A second's worth at once, then the rate.
		expect(performance.now() - began).toBeGreaterThan((1_000 * (200 - 2 * hostRate)) / hostRate)
	})
})

describe('a delivery', () => {
	it('shows that its host is on probation, and when the host may be tried again', async () => {
		const host = newHost()
		const { remit } = await server.newTenant()
		const began = server.clock.now
		sink.answer = { status: 404 }
		await subscribe({ remit }, host, 25)
		await remit.companies.create({ name: 'Acme' })
		await untilTried(server, host)
		const shown = async () =>
			(await remit.webhooks.deliveries.list({ limit: 100 })).data.map(({ status, onProbation, nextAttemptAt }) => {
				return { status, onProbation, nextAttemptAt }
			})
		const waiting = { onProbation: true, nextAttemptAt: began + 60 * minute }
		expect(await shown()).toEqual(Array(25).fill({ status: expect.stringMatching(/pending|retrying/), ...waiting }))
		const [first] = (await remit.webhooks.deliveries.list({ limit: 1 })).data
		expect(await remit.webhooks.deliveries.get(first?.id as string)).toMatchObject(waiting)
		sink.answer = { status: 204 }
		server.clock.now += 61 * minute
		await untilAllSucceeded({ remit })
		expect(await shown()).toEqual(Array(25).fill({ status: 'succeeded', onProbation: false, nextAttemptAt: null }))
	})

	it('shows that another one is under way to its host', async () => {
		const host = newHost()
		const { remit } = await server.newTenant()
		sink.answer = { hang: true }
		await subscribe({ remit }, host, 2)
		await remit.companies.create({ name: 'Acme' })
		await sink.events(1)
		const [underWay] = (await remit.webhooks.deliveries.list({ status: 'delivering' })).data
		expect(underWay).toMatchObject({ onProbation: false, nextAttemptAt: null })
		const [waits] = (await remit.webhooks.deliveries.list({ status: 'pending' })).data
		expect(waits).toMatchObject({ onProbation: true, attemptCount: 0 })
		expect(waits?.nextAttemptAt).toBeGreaterThan(server.clock.now)
	})

	it('is not on probation when its host has answered, though it waits', async () => {
		const host = newHost()
		const { remit } = await server.newTenant()
		await subscribe({ remit }, host, 1)
		await remit.companies.create({ name: 'First' })
		await untilAllSucceeded({ remit })
		sink.answer = { status: 500 }
		await remit.companies.create({ name: 'Second' })
		const retrying = async () => (await remit.webhooks.deliveries.list({ status: 'retrying' })).data
		await vi.waitUntil(async () => (await retrying()).length === 1, { timeout: 10_000 })
		const [delivery] = await retrying()
		expect(delivery).toMatchObject({ onProbation: false })
		expect(delivery?.nextAttemptAt).toBeLessThanOrEqual(server.clock.now + 1.2 * minute)
	})
})

describe('an organization', () => {
	it('has 50 endpoints at most, also when it creates them at once', async () => {
		const tenant = await server.newTenant()
		await subscribe(tenant, '127.0.0.1', 45)
		const body = { url: sink.url, eventTypes: ['*'] }
		const answers = await Promise.all(Array.from({ length: 10 }, () => tenant.ask('POST', '/webhooks/endpoints', { body })))
		expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(201), ...Array(5).fill(409)])
		const rejected = answers.find(({ status }) => status === 409)
		expect(rejected?.body).toMatchObject({ code: 'too_many_endpoints', detail: expect.stringContaining('50') })
		const [first] = (await tenant.remit.webhooks.endpoints.list({ limit: 1 })).data
		await tenant.remit.webhooks.endpoints.delete(first?.id as string)
		expect((await tenant.ask('POST', '/webhooks/endpoints', { body })).status).toBe(201)
	})
})
