// A failed delivery is tried again when the schedule says so, or later when the receiver asks for it.
import type { WebhookDeliveryDetails } from '@remit/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { Sink } from '../../../../test/sink.ts'
import { releaseOverlong } from './repair-store.ts'

const hour = 3_600_000
const day = 24 * hour
/** The documented seconds before each attempt. */
const documented = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

let server: TestServer
/** A server with another schedule. */
let other: TestServer
let tenant: Tenant
let sink: Sink
beforeAll(async () => {
	server = await startTestServer()
	other = await startTestServer({ WEBHOOK_RETRY_SECONDS: [0, 60, 7], WEBHOOK_TIMEOUT_SECONDS: 1 })
})
beforeEach(async () => {
	tenant = await server.newTenant()
	sink = await new Sink().start()
	return () => sink.stop()
})
afterAll(() => Promise.all([server.close(), other.close()]))

const subscribe = (of: Tenant, to = sink) => to.subscribe(of.remit, 'company.*')

/** Moves the clock and wakes the engine by a commit. */
async function pass(ms: number, on = server): Promise<void> {
	on.clock.now += ms
	await on.db.transaction(async () => {})
}

/** Waits for the number of attempts; returns the delivery of the organization's first event. */
async function deliveryAfter(attempts: number, of = tenant): Promise<WebhookDeliveryDetails> {
	const { id } = (await of.ask('GET', '/webhooks/deliveries')).body.data.at(-1)
	const delivery = () => of.remit.webhooks.deliveries.get(id)
	await vi.waitUntil(async () => (await delivery()).attemptCount === attempts, { timeout: 5_000, interval: 5 })
	return delivery()
}

/** Waits until a delivery to another endpoint has arrived: everything that was due before has been attempted then. */
async function expectNothingMore(on = server, of = tenant): Promise<void> {
	const probe = await new Sink().start()
	const id = await subscribe(of, probe)
	await of.remit.webhooks.endpoints.test(id)
	await probe.events(1)
	await of.remit.webhooks.endpoints.delete(id)
	await pass(0, on)
	await probe.stop()
}

describe('a delivery that fails', () => {
	it('is tried ten times over three days, each time a fifth around the time of the schedule, and then no more', async () => {
		sink.answer = (_, count) => ({ status: 500 + count, body: `no ${count}` })
		await subscribe(tenant)
		await tenant.remit.companies.create({ name: 'Acme' })
		const began = server.clock.now
		for (let made = 1; made < documented.length; made++) {
			const { status, nextAttemptAt, lastResponseStatus, lastError } = await deliveryAfter(made)
			expect({ status, lastResponseStatus, lastError }).toEqual({
				status: 'retrying',
				lastResponseStatus: 500 + made,
				lastError: `answered ${500 + made}`,
			})
			const wait = (nextAttemptAt ?? 0) - server.clock.now
			const planned = (documented[made] ?? 0) * 1000
			expect(wait).toBeGreaterThanOrEqual(planned * 0.8)
			expect(wait).toBeLessThanOrEqual(planned * 1.2)
			await pass(wait)
		}
		const delivery = await deliveryAfter(documented.length)
		expect(delivery).toMatchObject({ status: 'exhausted', nextAttemptAt: null, attemptCount: 10, lastResponseStatus: 510 })
		expect((server.clock.now - began) / hour).toBeGreaterThan(75 * 0.8)
		expect((server.clock.now - began) / hour).toBeLessThan(76 * 1.2)

		expect(delivery.attempts).toHaveLength(10)
		for (const [index, attempt] of delivery.attempts.entries()) {
			expect(attempt).toEqual({
				startedAt: expect.any(Number),
				durationMs: expect.any(Number),
				responseStatus: 501 + index,
				responseBody: `no ${index + 1}`,
				error: `answered ${501 + index}`,
			})
			const { headers, body } = sink.received[index] ?? {}
			expect(headers).toMatchObject({
				'webhook-id': delivery.eventId,
				'webhook-timestamp': String(Math.floor(attempt.startedAt / 1000)),
			})
			expect(body).toBe(sink.received[0]?.body)
		}
		await pass(10 * day)
		await expectNothingMore()
		expect([sink.received.length, sink.problems]).toEqual([10, []])
	})

	it('is not tried before its time', async () => {
		sink.answer = (_, count) => ({ status: count === 1 ? 500 : 204 })
		await subscribe(tenant)
		await tenant.remit.companies.create({ name: 'Acme' })
		const { nextAttemptAt } = await deliveryAfter(1)
		await pass((nextAttemptAt ?? 0) - server.clock.now - 1)
		await expectNothingMore()
		expect(sink.received).toHaveLength(1)
		await pass(1)
		expect(await deliveryAfter(2)).toMatchObject({
			status: 'succeeded',
			lastResponseStatus: 204,
			lastError: null,
			nextAttemptAt: null,
		})
	})

	it('follows the schedule that the server is set up with', async () => {
		const own = await other.newTenant()
		sink.answer = { status: 404 }
		await subscribe(own)
		await own.remit.companies.create({ name: 'Acme' })
		for (const [made, seconds] of [60, 7].entries()) {
			const { nextAttemptAt } = await deliveryAfter(made + 1, own)
			const wait = (nextAttemptAt ?? 0) - other.clock.now
			expect(Math.abs(wait - seconds * 1000)).toBeLessThanOrEqual(seconds * 200)
			await pass(wait, other)
		}
		expect(await deliveryAfter(3, own)).toMatchObject({ status: 'exhausted' })
		expect(sink.received).toHaveLength(3)
	})

	it('has the reason in words when the receiver did not answer in time, or there was none', async () => {
		const own = await other.newTenant()
		sink.answer = { hang: true }
		await subscribe(own)
		await own.remit.companies.create({ name: 'Acme' })
		const [attempt] = (await deliveryAfter(1, own)).attempts
		expect(attempt).toMatchObject({ responseStatus: null, responseBody: null, error: 'no complete answer within 1 s' })
		expect(attempt?.durationMs).toBeGreaterThan(950)
		expect(attempt?.durationMs).toBeLessThan(3_000)
		await sink.stop()
		await pass(72_000, other)
		expect((await deliveryAfter(2, own)).lastError).toBe('connection refused')
		sink = await new Sink().start()
	})
})

describe('a retry', () => {
	it('that is due later than the longest wait of the schedule, because the clock was set back, is due now', async () => {
		sink.answer = (_, count) => ({ status: count === 1 ? 500 : 204 })
		await subscribe(tenant)
		await tenant.remit.companies.create({ name: 'Acme' })
		const { id, nextAttemptAt } = await deliveryAfter(1)
		const delivery = () => tenant.remit.webhooks.deliveries.get(id)
		const longest = 1.2 * day
		server.clock.now = (nextAttemptAt ?? 0) - longest
		await releaseOverlong(server.db, documented, server.clock.now)
		await expectNothingMore()
		expect(await delivery()).toMatchObject({ status: 'retrying', nextAttemptAt })
		server.clock.now--
		await releaseOverlong(server.db, documented, server.clock.now)
		await expect.poll(delivery, { interval: 5, timeout: 5_000 }).toMatchObject({ status: 'succeeded', attemptCount: 2 })
		server.clock.now += longest
	})
})

describe('a receiver that asks for time with Retry-After', () => {
	const company = (name: string) => tenant.remit.companies.create({ name })
	const names = (of = sink) => of.received.map(({ event }) => (event.data as { name: string }).name)
	const waitOf = (delivery: WebhookDeliveryDetails) => (delivery.nextAttemptAt ?? 0) - server.clock.now

	it.each([
		['seconds', () => '120', 120_000],
		['a date', () => new Date(server.clock.now + 120_000).toUTCString(), 120_000],
		['more than a day', () => '999999999', day],
	])('gets it: %s', async (_, header, expected) => {
		sink.answer = (_received, count) => (count === 1 ? { status: 503, headers: { 'retry-after': header() } } : {})
		await subscribe(tenant)
		await company('One')
		const wait = waitOf(await deliveryAfter(1))
		expect(wait).toBeGreaterThan(expected - 1_000)
		expect(wait).toBeLessThanOrEqual(expected)
		await pass(wait)
		expect(await deliveryAfter(2)).toMatchObject({ status: 'succeeded' })
	})

	it.each(['soon', '-5', '1.5', 'tomorrow 2030', '0'])('gets none for "%s"', async (header) => {
		sink.answer = { status: 503, headers: { 'retry-after': header } }
		await subscribe(tenant)
		await company('One')
		const wait = waitOf(await deliveryAfter(1))
		expect(wait).toBeGreaterThanOrEqual(4_000)
		expect(wait).toBeLessThanOrEqual(6_000)
	})

	it.each([429, 503])('gets it for everything that it is sent, with %i, while others are served', async (status) => {
		const neighbour = await new Sink().start()
		sink.answer = (_, count) => (count === 1 ? { status, headers: { 'retry-after': '3600' } } : {})
		await subscribe(tenant)
		await company('One')
		await deliveryAfter(1)
		await subscribe(tenant, neighbour)
		await company('Two')
		await pass(hour - 1_000)
		await company('Three')
		await neighbour.events(2)
		await expectNothingMore()
		expect(names()).toEqual(['One'])
		await pass(1_000)
		await sink.events(4)
		expect(names().toSorted()).toEqual(['One', 'One', 'Three', 'Two'])
		await neighbour.stop()
	})

	it('holds other deliveries back for an hour at most, however much it asks for', async () => {
		sink.answer = (_, count) => (count === 1 ? { status: 503, headers: { 'retry-after': '86400' } } : {})
		await subscribe(tenant)
		await company('One')
		expect(waitOf(await deliveryAfter(1))).toBe(day)
		await company('Two')
		await pass(hour - 1_000)
		await expectNothingMore()
		expect(names()).toEqual(['One'])
		await pass(1_000)
		await sink.events(2)
		expect(names()).toEqual(['One', 'Two'])
	})

	it.each<[string, (endpoint: string, delivery: string) => Promise<unknown>]>([
		['a test', (endpoint) => tenant.remit.webhooks.endpoints.test(endpoint)],
		['a redelivery', (_, delivery) => tenant.remit.webhooks.deliveries.redeliver(delivery)],
		['a redelivery of all', (endpoint) => tenant.remit.webhooks.endpoints.redeliver(endpoint)],
		[
			'a pause of its owner',
			async (endpoint) => {
				for (const status of ['paused', 'active'] as const) await tenant.remit.webhooks.endpoints.update(endpoint, { status })
				await company('Three')
			},
		],
		['another URL', (endpoint) => tenant.remit.webhooks.endpoints.update(endpoint, { url: `${sink.url}moved` })],
	])('does not hold back what comes after %s', async (_, act) => {
		sink.answer = (_received, count) => (count === 1 ? { status: 503, headers: { 'retry-after': '86400' } } : {})
		const endpoint = await subscribe(tenant)
		await company('One')
		const { id } = await deliveryAfter(1)
		await company('Two')
		await expectNothingMore()
		expect(sink.received).toHaveLength(1)
		server.clock.now += 1_000
		await act(endpoint, id)
		await sink.events(2)
	})

	it('gets it again when it asks once more after a test', async () => {
		sink.answer = { status: 503, headers: { 'retry-after': '86400' } }
		const endpoint = await subscribe(tenant)
		await company('One')
		await deliveryAfter(1)
		server.clock.now += 1_000
		await tenant.remit.webhooks.endpoints.test(endpoint)
		await sink.events(2)
		await expect.poll(async () => (await tenant.remit.webhooks.deliveries.list()).data[0]).toMatchObject({ status: 'retrying' })
		server.clock.now += 1_000
		await company('Two')
		await expectNothingMore()
		expect(sink.received).toHaveLength(2)
	})

	it('gets it for that one delivery alone with any other status', async () => {
		sink.answer = (_, count) => (count === 1 ? { status: 500, headers: { 'retry-after': '3600' } } : {})
		await subscribe(tenant)
		await company('One')
		expect(waitOf(await deliveryAfter(1))).toBe(hour)
		await company('Two')
		await sink.events(2)
		expect(names()).toEqual(['One', 'Two'])
		await pass(hour)
		await sink.events(3)
		expect(names()).toEqual(['One', 'Two', 'One'])
	})
})
