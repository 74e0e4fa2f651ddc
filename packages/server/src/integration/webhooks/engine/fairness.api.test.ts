// Endpoints that hang or fail use up only their own room.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { type Answering, Sink } from '../../../../test/sink.ts'

let server: TestServer
const sinks: Sink[] = []
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(async () => {
	await Promise.all(sinks.map((sink) => sink.stop()))
	await server.close()
})

const events = 300

interface Receiver {
	readonly sink: Sink
	/** The maximum of requests that waited for an answer at once. */
	most(): number
}

async function receiver(tenant: Tenant, answer: Answering): Promise<Receiver> {
	const sink = await new Sink().start()
	sinks.push(sink)
	await sink.subscribe(tenant.remit, 'company.created')
	let [open, most] = [0, 0]
	sink.answer = async (received, count) => {
		most = Math.max(most, ++open)
		const given = typeof answer === 'function' ? await answer(received, count) : answer
		if (!given.hang) open--
		return given
	}
	return { sink, most: () => most }
}

const aMoment = async () => {
	await new Promise((resolve) => setTimeout(resolve, 5))
	return {}
}

/** The milliseconds from 300 changes until the endpoint has them all. */
async function timeOf(tenant: Tenant, { sink }: Receiver): Promise<number> {
	const began = performance.now()
	await Promise.all(Array.from({ length: events }, (_, n) => tenant.remit.companies.create({ name: `Company ${n}` })))
	await sink.events(events, 20_000)
	return performance.now() - began
}

describe('a healthy endpoint', () => {
	it('gets 300 events as quickly beside one that hangs and one that fails as without them', async () => {
		const alone = await server.newTenant()
		const undisturbed = await timeOf(alone, await receiver(alone, aMoment))

		const tenant = await server.newTenant()
		const hung = await receiver(tenant, { hang: true })
		const failing = await receiver(tenant, { status: 500 })
		const healthy = await receiver(tenant, aMoment)
		const disturbed = await timeOf(tenant, healthy)

		// Each change here writes three deliveries, for three endpoints.
		expect(disturbed).toBeLessThan(4 * undisturbed + 500)
		expect(new Set(healthy.sink.received.map(({ event }) => event.id)).size).toBe(events)
		expect(healthy.sink.received).toHaveLength(events)
		expect(hung.sink.received).toHaveLength(5)
		expect([hung.sink, failing.sink, healthy.sink].flatMap(({ problems }) => problems)).toEqual([])
	})

	it('gets five requests at once at most while it is new, and 25 once one was answered', async () => {
		const tenant = await server.newTenant()
		const [one, others] = [Promise.withResolvers<object>(), Promise.withResolvers<object>()]
		const slow = await receiver(tenant, (_, count) => (count === 1 ? one.promise : others.promise))
		await Promise.all(Array.from({ length: 60 }, (_, n) => tenant.remit.companies.create({ name: `Company ${n}` })))
		await slow.sink.events(5)
		await tenant.remit.companies.create({ name: 'The last' })
		expect(slow.sink.received).toHaveLength(5)
		one.resolve({})
		await slow.sink.events(26)
		others.resolve({})
		await slow.sink.events(61)
		expect(slow.most()).toBe(25)
	})
})

describe('an endpoint that fails', () => {
	it('gets two requests at once at most, until one succeeds', async () => {
		const tenant = await server.newTenant()
		let works = false
		const { sink, most } = await receiver(tenant, async () => {
			await aMoment()
			return { status: works ? 204 : 500 }
		})
		await tenant.remit.companies.create({ name: 'The first' })
		const failed = async () => (await tenant.ask('GET', '/webhooks/deliveries?status=retrying')).body.data.length
		await vi.waitUntil(async () => (await failed()) === 1, { timeout: 5_000, interval: 5 })
		await Promise.all(Array.from({ length: 40 }, (_, n) => tenant.remit.companies.create({ name: `Company ${n}` })))
		await sink.events(41)
		expect(most()).toBeLessThanOrEqual(2)
		works = true
		await tenant.remit.companies.create({ name: 'The last' })
		await sink.events(42)
	})
})

// The last: its calls hang on.
it('A healthy endpoint gets its event at once beside sixteen endpoints of its host that worked, and hang', async () => {
	const hanging = await Promise.all(Array.from({ length: 16 }, () => server.newTenant()))
	const hung = await Promise.all(hanging.map((tenant) => receiver(tenant, (_, count) => ({ hang: count > 1 }))))
	const healthy = await server.newTenant()
	const { sink } = await receiver(healthy, aMoment)
	const all = [...hanging, healthy]
	await Promise.all(all.map(({ remit }) => remit.companies.create({ name: 'One that works' })))
	await Promise.all([...hung.map(({ sink }) => sink), sink].map((one) => one.events(1)))
	// Until none has been heard of lately.
	await new Promise((resolve) => setTimeout(resolve, 2_100))
	const companies = hanging.flatMap(({ remit }) =>
		Array.from({ length: 25 }, (_, n) => remit.companies.create({ name: `Company ${n}` })),
	)
	await Promise.all([...companies, ...hung.map(({ sink }) => sink.events(3))])
	await healthy.remit.companies.create({ name: 'One beside them' })
	await sink.events(2, 5_000)
}, 60_000)
