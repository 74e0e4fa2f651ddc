// A name leads anywhere, and elsewhere a moment later: what a host may be sent depends on the network that answered.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { untilTried } from '../../../../test/hosts.ts'
import { Sink } from '../../../../test/sink.ts'
import { query } from '../../../platform/db/database.ts'

const minute = 60_000

let server: TestServer
let sink: Sink
/** Where the names of this file lead. */
const addresses = new Map<string, readonly string[]>()
beforeAll(async () => {
	const lookup = async (name: string) =>
		(addresses.get(name) ?? ['127.0.0.1']).map((address) => ({ address, family: 4 as const }))
	server = await startTestServer({ WEBHOOK_RETRY_SECONDS: [0, 60, 60, 60] }, lookup)
})
beforeEach(async () => {
	sink = await new Sink({ everyLibrary: false }).start('0.0.0.0')
	return async () => {
		expect(sink.problems).toEqual([])
		await sink.stop()
	}
})
afterAll(() => server.close())

let names = 0
let networks = 1
/** An address that nothing has called, of a network of its own. */
const newAddress = () => `127.0.0.${++networks}`

function newHost(...to: string[]): string {
	const host = `name-${++names}.example`
	addresses.set(host, to)
	return host
}

/** Creates `count` endpoints with different URLs on a host, by name or address. */
async function subscribe(tenant: Tenant, host: string, count = 1, receiver = sink, port = portOf(receiver)): Promise<void> {
	for (let n = 0; n < count; n++) {
		const url = `http://${host}:${port}/${host}/${n}`
		const { secret } = await tenant.remit.webhooks.endpoints.create({ url, eventTypes: ['company.created'] })
		receiver.secrets.push(secret)
	}
}

const portOf = ({ url }: Sink) => Number(new URL(url).port)

/** Resolves once the engine has had the chance to make more attempts: a proven host has got one that was due later. */
async function othersHadTheirTurn(): Promise<void> {
	const tenant = await server.newTenant()
	const other = await new Sink({ everyLibrary: false }).start()
	for (let n = 1; n <= 3; n++) {
		if (n === 1) await other.subscribe(tenant.remit, 'company.created')
		await tenant.remit.companies.create({ name: 'Another' })
		await other.events(n)
	}
	await other.stop()
}

async function untilAllSucceeded({ remit }: Tenant): Promise<void> {
	const isDone = async () =>
		(await remit.webhooks.deliveries.list({ limit: 100 })).data.every(({ status }) => status === 'succeeded')
	await vi.waitUntil(isDone, { timeout: 30_000, interval: 20 })
}

const provenAt = query<{ host: string }, { provenAt: number | null }>((knex, { host }) =>
	knex('webhook_hosts').where({ host }).select('provenAt'),
)

const knownOf = async (host: string) => JSON.parse((await server.db.get(networksOf, { host }))?.networks ?? '[]')

const networksOf = query<{ host: string }, { networks: string }>((knex, { host }) =>
	knex('webhook_hosts').where({ host }).select('networks'),
)

const at = (address: string) => sink.received.filter((one) => one.address === address)
const toHost = (host: string) => sink.received.filter(({ path }) => path.startsWith(`/${host}/`))
const arrived = (list: () => unknown[], count: number) =>
	vi.waitUntil(() => list().length >= count, { timeout: 30_000, interval: 5 })

describe('a network that has not answered 2xx yet', () => {
	it('gets 20 attempts an hour, however many names lead there, then 20 more', async () => {
		const victim = newAddress()
		const tenant = await server.newTenant()
		sink.answer = { status: 404 }
		for (let n = 0; n < 10; n++) await subscribe(tenant, newHost(victim), 4)
		await subscribe(tenant, victim, 5)
		await tenant.remit.companies.create({ name: 'Acme' })
		await arrived(() => at(victim), 20)
		for (let minutes = 0; minutes < 50; minutes += 10) {
			await othersHadTheirTurn()
			expect(at(victim)).toHaveLength(20)
			server.clock.now += 10 * minute
		}
		// What waits has lost no attempt: it was not made.
		await vi.waitFor(async () => {
			const { data } = await tenant.remit.webhooks.deliveries.list({ limit: 100 })
			expect(data.reduce((made, { attemptCount }) => made + attemptCount, 0)).toBe(20)
			// For a moment one of them asks whether its network admits it.
			expect(new Set(data.map(({ status }) => status))).toEqual(new Set(['pending', 'retrying']))
		})
		// One that was claimed before the hour ended, and asks its network after it, would count for the hour before.
		await othersHadTheirTurn()
		server.clock.now += 16 * minute
		await arrived(() => at(victim), 40)
		await othersHadTheirTurn()
		expect(at(victim)).toHaveLength(40)
	})

	it('gets no more as the second address of names whose first one is dead', async () => {
		const victim = newAddress()
		const tenant = await server.newTenant()
		const receiver = await new Sink({ everyLibrary: false }).start(victim)
		receiver.answer = { status: 404 }
		for (let n = 0; n < 30; n++) await subscribe(tenant, newHost(newAddress(), victim), 1, receiver)
		await tenant.remit.companies.create({ name: 'Acme' })
		await receiver.events(20)
		await othersHadTheirTurn()
		expect(receiver.received).toHaveLength(20)
		await receiver.stop()
	})
})

describe('a network that has answered 2xx', () => {
	it('leaves each name that leads there its own 20 attempts an hour', async () => {
		const shared = newAddress()
		const tenant = await server.newTenant()
		const works = newHost(shared)
		await subscribe(tenant, works)
		await tenant.remit.companies.create({ name: 'First' })
		await arrived(() => toHost(works), 1)
		sink.answer = { status: 404 }
		const others = [newHost(shared), newHost(shared)]
		const stranger = await server.newTenant()
		for (const host of others) await subscribe(stranger, host, 25)
		await stranger.remit.companies.create({ name: 'Acme' })
		for (const host of others) await untilTried(server, host)
		await othersHadTheirTurn()
		for (const host of others) expect(toHost(host)).toHaveLength(20)
	})
})

describe('a host that has answered 2xx', () => {
	it('is on probation where its name leads next, until it has answered there', async () => {
		const [own, victim] = [newAddress(), newAddress()]
		const tenant = await server.newTenant()
		const host = newHost(own)
		sink.answer = ({ address }) => ({ status: address === victim ? 404 : 204, headers: { connection: 'close' } })
		await subscribe(tenant, host, 30)
		await tenant.remit.companies.create({ name: 'Taken' })
		await arrived(() => at(own), 30)
		addresses.set(host, [victim])
		for (let n = 0; n < 3; n++) await tenant.remit.companies.create({ name: 'Flood' })
		await untilTried(server, host)
		await othersHadTheirTurn()
		expect(at(victim)).toHaveLength(20)
		// One that fails after the clock was set would be due a minute later still.
		const underWay = async () => (await tenant.remit.webhooks.deliveries.list({ status: 'delivering' })).data.length
		await vi.waitUntil(async () => (await underWay()) === 0, { timeout: 10_000 })
		sink.answer = { status: 204 }
		server.clock.now += 61 * minute
		await untilAllSucceeded(tenant)
	})

	it('does not flood another network by leading to both, or to the two in turn', async () => {
		const [own, victim] = [newAddress(), newAddress()]
		const tenant = await server.newTenant()
		const host = newHost(own)
		sink.answer = ({ address }) => ({ status: address === victim ? 404 : 204, headers: { connection: 'close' } })
		await subscribe(tenant, host, 10)
		await tenant.remit.companies.create({ name: 'Taken' })
		await arrived(() => at(own), 10)
		addresses.set(host, [victim, own])
		for (let n = 0; n < 3; n++) await tenant.remit.companies.create({ name: 'Both' })
		await arrived(() => at(own), 40)
		expect(at(victim)).toEqual([])
		for (let turn = 1; turn <= 8; turn++) {
			addresses.set(host, [victim])
			await tenant.remit.companies.create({ name: 'In turn' })
			const before = at(victim).length
			if (turn <= 2) await arrived(() => at(victim), before + 1)
			else await othersHadTheirTurn()
			addresses.set(host, [own])
			server.clock.now += minute
			await othersHadTheirTurn()
		}
		expect(at(victim).length).toBeLessThanOrEqual(20)
	})

	it('gets no more for its endpoints that worked when it has moved, also to a network that has answered others', async () => {
		const [own, shared] = [newAddress(), newAddress()]
		const tenant = await server.newTenant()
		const [host, other] = [newHost(own), newHost(shared)]
		await subscribe(tenant, other)
		await subscribe(tenant, host, 30)
		await tenant.remit.companies.create({ name: 'Taken' })
		await arrived(() => sink.received, 31)
		sink.answer = ({ path }) => ({ status: path.startsWith(`/${other}/`) ? 204 : 404 })
		addresses.set(host, [shared])
		const atShared = () => toHost(host).filter(({ address }) => address === shared)
		for (let n = 0; n < 3; n++) await tenant.remit.companies.create({ name: 'Flood' })
		await untilTried(server, host)
		await othersHadTheirTurn()
		expect(atShared().length).toBeLessThanOrEqual(20)
	})

	it('does not flood the network to which it leads after an hour of failures, by the endpoints that worked before', async () => {
		const [own, victim] = [newAddress(), newAddress()]
		const [failing, working] = [await server.newTenant(), await server.newTenant()]
		const host = newHost(own)
		await subscribe(failing, host, 10)
		await subscribe(working, host, 30)
		await failing.remit.companies.create({ name: 'Taken' })
		await working.remit.companies.create({ name: 'Taken' })
		await arrived(() => at(own), 40)
		sink.answer = { status: 404 }
		for (let n = 0; n < 5; n++) await failing.remit.companies.create({ name: 'Fails' })
		const failed = async () => (await failing.remit.webhooks.deliveries.list({ status: 'retrying', limit: 1 })).meta.total
		await vi.waitUntil(async () => (await failed()) === 50, { timeout: 20_000 })
		server.clock.now += 61 * minute
		await vi.waitFor(async () => expect(await server.db.get(provenAt, { host })).toEqual({ provenAt: null }), { timeout: 20_000 })
		addresses.set(host, [victim])
		for (let n = 0; n < 3; n++) await working.remit.companies.create({ name: 'Flood' })
		await arrived(() => at(victim), 20)
		await othersHadTheirTurn()
		expect(at(victim)).toHaveLength(20)
	})

	it('may have more addresses than attempts an hour, since one that it answers does not count', async () => {
		const tenant = await server.newTenant()
		const host = newHost(newAddress())
		sink.answer = { status: 204, headers: { connection: 'close' } }
		await subscribe(tenant, host)
		for (let n = 0; n < 30; n++) {
			const next = newAddress()
			addresses.set(host, [next])
			await tenant.remit.companies.create({ name: `Company ${n}` })
			await arrived(() => at(next), 1)
		}
		await untilAllSucceeded(tenant)
	})

	it('goes on at its other address when the first one is dead, and loses no attempt', async () => {
		const [first, second] = [newAddress(), newAddress()]
		const tenant = await server.newTenant()
		const one = await new Sink({ everyLibrary: false }).start(first)
		const other = await new Sink({ everyLibrary: false }).start(second, portOf(one))
		one.answer = { status: 204, headers: { connection: 'close' } }
		await subscribe(tenant, newHost(first, second), 10, one)
		other.secrets.push(...one.secrets)
		await tenant.remit.companies.create({ name: 'First' })
		await one.events(10)
		await untilAllSucceeded(tenant)
		await one.stop()
		await tenant.remit.companies.create({ name: 'Second' })
		await other.events(10)
		await untilAllSucceeded(tenant)
		const { data } = await tenant.remit.webhooks.deliveries.list({ limit: 100 })
		expect(data.map(({ attemptCount }) => attemptCount)).toEqual(Array(20).fill(1))
		await other.stop()
	})

	it('goes on at its other address without probation, and stays there', async () => {
		const [first, second] = [newAddress(), newAddress()]
		const tenant = await server.newTenant()
		const one = await new Sink({ everyLibrary: false }).start(first)
		const other = await new Sink({ everyLibrary: false }).start(second, portOf(one))
		one.answer = { status: 204, headers: { connection: 'close' } }
		const host = newHost(first, second)
		await subscribe(tenant, host, 1, one)
		other.secrets.push(...one.secrets)
		await tenant.remit.companies.create({ name: 'First' })
		await untilAllSucceeded(tenant)
		await one.stop()
		const seen: unknown[] = []
		other.answer = async () => {
			seen.push((await server.db.get(provenAt, { host }))?.provenAt)
			return { status: 204, headers: { connection: 'close' } }
		}
		for (let n = 1; n <= 3; n++) {
			await tenant.remit.companies.create({ name: `Next ${n}` })
			await other.events(n)
			await untilAllSucceeded(tenant)
			expect(await knownOf(host)).toEqual([`${first}/32`, `${second}/32`])
		}
		expect(other.problems).toEqual([])
		expect(seen).toEqual(Array(3).fill(expect.any(Number)))
		const { data } = await tenant.remit.webhooks.deliveries.list({ limit: 100 })
		expect(data.map(({ attemptCount }) => attemptCount)).toEqual(Array(4).fill(1))
		await other.stop()
	})

	it('at a closed port of which others fail stays proven', async () => {
		const host = newHost(newAddress(), newAddress())
		const [victim, stranger] = [await server.newTenant(), await server.newTenant()]
		await subscribe(victim, host)
		await victim.remit.companies.create({ name: 'Works' })
		await untilAllSucceeded(victim)
		await subscribe(stranger, host, 25, sink, 9)
		for (let n = 1; n <= 2; n++) {
			await stranger.remit.companies.create({ name: 'Fails' })
			const failed = async () => (await stranger.remit.webhooks.deliveries.list({ status: 'retrying', limit: 100 })).data
			await vi.waitUntil(async () => (await failed()).length === n * 25, { timeout: 20_000 })
			// Each of them is a failure of its own endpoint.
			expect((await failed()).map(({ attemptCount }) => attemptCount)).toEqual(Array(n * 25).fill(1))
			expect(await server.db.get(provenAt, { host })).toEqual({ provenAt: expect.any(Number) })
		}
		for (let n = 0; n < 3; n++) await victim.remit.companies.create({ name: 'At once' })
		await arrived(() => toHost(host), 4)
		await untilAllSucceeded(victim)
	})

	it('does not flood the other address of its name when the one where it is proven takes no connection', async () => {
		const [own, shared, unknown] = [newAddress(), newAddress(), newAddress()]
		const tenant = await server.newTenant()
		const receiver = await new Sink({ everyLibrary: false }).start(own)
		const others = [shared, unknown].map((address) => new Sink({ everyLibrary: false }).start(address, portOf(receiver)))
		const [atShared, atUnknown] = (await Promise.all(others)) as [Sink, Sink]
		receiver.answer = { status: 204, headers: { connection: 'close' } }
		await subscribe(tenant, newHost(shared), 1, atShared)
		const [one, two] = [newHost(own), newHost(own)]
		for (const host of [one, two]) await subscribe(tenant, host, 20, receiver)
		atShared.secrets.push(...receiver.secrets)
		atUnknown.secrets.push(...receiver.secrets)
		await tenant.remit.companies.create({ name: 'Taken' })
		await receiver.events(40)
		await untilAllSucceeded(tenant)
		await receiver.stop()
		atShared.answer = atUnknown.answer = { status: 404 }
		const before = atShared.received.length
		addresses.set(one, [own, shared])
		addresses.set(two, [own, unknown])
		for (let n = 0; n < 2; n++) await tenant.remit.companies.create({ name: 'Flood' })
		const { webhooks } = tenant.remit
		const failed = async () => (await webhooks.deliveries.list({ status: 'retrying', limit: 1 })).meta.total
		await vi.waitUntil(async () => (await failed()) === 82, { timeout: 20_000 })
		// The endpoint of the shared network's own name had two.
		expect(atShared.received.length - before).toBe(20 + 2)
		expect(atUnknown.received).toHaveLength(20)
		await atShared.stop()
		await atUnknown.stop()
	})
})
