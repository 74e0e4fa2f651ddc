// An endpoint that only fails, or answers that it is gone, is warned about and disabled.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { Sink } from '../../../../test/sink.ts'

const hour = 3_600_000

let server: TestServer
let tenant: Tenant
/** `sink` is the endpoint under test; `watcher` gets the events about it. */
let sink: Sink
let watcher: Sink
let endpointId: string
let began: number
beforeAll(async () => {
	// One attempt for each delivery: a failed delivery is done.
	server = await startTestServer({ WEBHOOK_RETRY_SECONDS: [0] })
})
beforeEach(async () => {
	tenant = await server.newTenant()
	sink = await new Sink().start()
	watcher = await new Sink().start()
	endpointId = await sink.subscribe(tenant.remit, 'company.*')
	await watcher.subscribe(tenant.remit, 'webhook.*')
	began = server.clock.now
	return async () => {
		expect([...sink.problems, ...watcher.problems]).toEqual([])
		await Promise.all([sink.stop(), watcher.stop()])
	}
})
afterAll(() => server.close())

const endpoint = () => tenant.remit.webhooks.endpoints.get(endpointId)
/** Waits until the delivery's result is written; returns its status. */
const ended = (id: string) =>
	vi.waitUntil(
		async () => {
			const { status } = await tenant.remit.webhooks.deliveries.get(id)
			return !['pending', 'delivering', 'retrying'].includes(status) && status
		},
		{ timeout: 5_000, interval: 5 },
	)
/** Makes an attempt `hours` after the beginning; returns the status of its delivery. */
async function attemptAt(hours: number): Promise<string> {
	server.clock.now = began + hours * hour
	return ended((await tenant.remit.webhooks.endpoints.test(endpointId)).id)
}
/** Begins two attempts at once; returns a function for each that ends it with a status. */
async function twoAtOnce(): Promise<((status: number) => void)[]> {
	const before = sink.received.length
	const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
	sink.answer = async (_, count) => ({ status: (await answers[count - before - 1]?.promise) ?? 204 })
	for (const name of ['One', 'Two']) await tenant.remit.companies.create({ name })
	await sink.events(before + 2)
	return answers.map(({ resolve }) => resolve)
}
const statuses = async (): Promise<string[]> => {
	const { data } = (await tenant.ask('GET', `/webhooks/deliveries?endpointId=${endpointId}`)).body
	return data.map(({ status }: { status: string }) => status).toSorted()
}
/** The events about the endpoint's health, with the hours since the beginning. */
const said = async () =>
	(await eventsOf(server, tenant, endpointId))
		.filter(({ type }) => type !== 'webhook.test')
		.map(({ type, timestamp }) => `${type} ${(timestamp - began) / hour}`)

describe('an endpoint that answers 410', () => {
	it('is disabled at once, and another endpoint gets the event', async () => {
		sink.answer = { status: 410, body: 'gone for good' }
		expect(await attemptAt(0)).toBe('exhausted')
		expect(await endpoint()).toMatchObject({ status: 'disabled', disabledReason: 'gone' })
		const [event] = await watcher.events(1)
		expect(event).toMatchObject({
			type: 'webhook.endpoint.disabled',
			resource: { type: 'webhook_endpoint', id: endpointId },
			actor: { type: 'system', id: null },
			data: await endpoint(),
		})
		expect(JSON.stringify(event)).not.toContain('whsec_')
	})

	it('leaves nothing waiting: a delivery behind another of its record is skipped', async () => {
		const first = Promise.withResolvers<number>()
		sink.answer = async (_, count) => ({ status: count === 1 ? await first.promise : 410 })
		const { id } = await tenant.remit.companies.create({ name: 'Acme' })
		await sink.events(1)
		await tenant.remit.companies.update(id, { name: 'Acme GmbH' })
		await tenant.remit.companies.create({ name: 'Other' })
		await vi.waitUntil(async () => (await endpoint()).status === 'disabled', { timeout: 5_000, interval: 5 })
		await expect.poll(statuses, { timeout: 5_000, interval: 5 }).toEqual(['delivering', 'exhausted', 'skipped'])
		first.resolve(204)
		await expect.poll(statuses, { timeout: 5_000, interval: 5 }).toEqual(['exhausted', 'skipped', 'succeeded'])
	})

	it('gets nothing more: attempts under way end, and later deliveries are skipped', async () => {
		const [first, second] = await twoAtOnce()
		first?.(410)
		await vi.waitUntil(async () => (await endpoint()).status === 'disabled', { timeout: 5_000, interval: 5 })
		await tenant.remit.companies.create({ name: 'Three' })
		second?.(500)
		await expect.poll(statuses, { timeout: 5_000, interval: 5 }).toEqual(['exhausted', 'exhausted', 'skipped'])
		expect(sink.received).toHaveLength(2)
	})

	it('works again once it is set active', async () => {
		sink.answer = (_, count) => ({ status: count === 1 ? 410 : 204 })
		await attemptAt(0)
		await expect(tenant.remit.webhooks.endpoints.test(endpointId)).rejects.toMatchObject({ code: 'webhook_endpoint_not_active' })
		await tenant.remit.webhooks.endpoints.update(endpointId, { status: 'active' })
		expect(await endpoint()).toMatchObject({ status: 'active', disabledReason: null, failingSince: null })
		expect(await attemptAt(1)).toBe('succeeded')
	})
})

describe('an endpoint that only fails', () => {
	beforeEach(() => {
		sink.answer = { status: 500 }
	})

	it('causes a warning each day, and is disabled after 120 hours', async () => {
		for (const hours of [0, 1, 23.9]) await attemptAt(hours)
		expect(await said()).toEqual([])
		expect(await endpoint()).toMatchObject({ status: 'active', failingSince: began })
		for (const hours of [24, 30, 47.9, 48, 71, 73, 95, 97, 119.9]) await attemptAt(hours)
		const warnings = [24, 48, 73, 97].map((hours) => `webhook.endpoint.failing ${hours}`)
		expect(await said()).toEqual(warnings)
		expect(await endpoint()).toMatchObject({ status: 'active', failingSince: began })
		await attemptAt(120)
		expect(await said()).toEqual([...warnings, 'webhook.endpoint.disabled 120'])
		expect(await endpoint()).toMatchObject({ status: 'disabled', disabledReason: 'failing', failingSince: began })
		// Some events may come twice: the clock leaps past the leases of attempts under way.
		const told = () => new Map(watcher.received.map(({ event }) => [event.id, event.data]))
		await vi.waitUntil(() => told().size === 5, { timeout: 5_000, interval: 5 })
		expect([...told().values()]).toEqual([
			...Array(4).fill(expect.objectContaining({ id: endpointId, status: 'active', failingSince: began })),
			await endpoint(),
		])
	})

	it('is not disabled for its age: only for failures of 120 hours', async () => {
		sink.answer = { status: 204 }
		await attemptAt(0)
		sink.answer = { status: 500 }
		await attemptAt(1_000)
		expect(await endpoint()).toMatchObject({ status: 'active', failingSince: server.clock.now })
		expect(await said()).toEqual([])
	})

	it('has a clean slate after a single success', async () => {
		for (const hours of [0, 24, 100]) await attemptAt(hours)
		sink.answer = { status: 204 }
		await attemptAt(119)
		expect(await endpoint()).toMatchObject({ status: 'active', failingSince: null })
		sink.answer = { status: 500 }
		for (const hours of [121, 144, 145]) await attemptAt(hours)
		expect(await said()).toEqual([24, 100, 145].map((hours) => `webhook.endpoint.failing ${hours}`))
		expect((await endpoint()).failingSince).toBe(began + 121 * hour)
	})

	it('has a clean slate when its owner sets it active', async () => {
		for (const hours of [0, 120]) await attemptAt(hours)
		expect((await endpoint()).status).toBe('disabled')
		await tenant.remit.webhooks.endpoints.update(endpointId, { status: 'active' })
		for (const hours of [121, 144, 145]) await attemptAt(hours)
		expect(await said()).toEqual(['webhook.endpoint.disabled 120', 'webhook.endpoint.failing 145'])
		expect(await endpoint()).toMatchObject({ status: 'active', failingSince: began + 121 * hour })
	})

	it('causes one warning, however many attempts fail at that time', async () => {
		await attemptAt(0)
		server.clock.now = began + 25 * hour
		const [first, second] = await twoAtOnce()
		first?.(500)
		await expect.poll(said, { timeout: 5_000, interval: 5 }).toEqual(['webhook.endpoint.failing 25'])
		second?.(500)
		await expect.poll(statuses, { timeout: 5_000, interval: 5 }).toEqual(['exhausted', 'exhausted', 'exhausted'])
		expect(await said()).toEqual(['webhook.endpoint.failing 25'])
	})

	it('causes no warning, after its owner set it active, for failures from before', async () => {
		for (const hours of [0, 25]) await attemptAt(hours)
		const answer = Promise.withResolvers<void>()
		sink.answer = () => answer.promise.then(() => ({ status: 500 }))
		server.clock.now = began + 49.5 * hour
		const { id } = await tenant.remit.webhooks.endpoints.test(endpointId)
		await sink.events(3)
		await tenant.remit.webhooks.endpoints.update(endpointId, { status: 'active' })
		answer.resolve()
		await ended(id)
		expect(await said()).toEqual(['webhook.endpoint.failing 25'])
		expect((await endpoint()).failingSince).toBe(server.clock.now)
	})
})

describe('an endpoint whose attempts end differently', () => {
	it('works, when the last of those that were under way together succeeded', async () => {
		const [first, second] = await twoAtOnce()
		first?.(500)
		await expect.poll(async () => (await endpoint()).failingSince, { timeout: 5_000, interval: 5 }).toBe(began)
		second?.(204)
		await expect.poll(async () => (await endpoint()).failingSince, { timeout: 5_000, interval: 5 }).toBeNull()
	})
})
