import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { Sink } from '../../../test/sink.ts'
import { hourMs } from '../../platform/base/dates.ts'
import { countAttempts } from './stats-store.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer({ WEBHOOK_RETRY_SECONDS: [0] })
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const subscribe = async () =>
	(await tenant.remit.webhooks.endpoints.create({ url: 'https://acme.example/', eventTypes: ['*'] })).id
const stats = (id: string) => tenant.remit.webhooks.endpoints.stats(id)

it('the figures of an endpoint count what it was sent, and how long it took', async () => {
	const sink = await new Sink().start()
	const other = await new Sink().start()
	sink.answer = async (_, count) => {
		if (count === 2) await sleep(30)
		return { status: count === 3 ? 500 : 204 }
	}
	const [id, otherId] = [
		await sink.subscribe(tenant.remit, 'company.created'),
		await other.subscribe(tenant.remit, 'invoice.paid'),
	]
	const since = (Math.floor(server.clock.now / hourMs) - 23) * hourMs
	const none = { endpointId: id, since, succeeded: 0, failed: 0, successRate: null, latency: null }
	expect(await stats(id)).toEqual(none)
	for (let count = 1; count <= 4; count++) {
		await tenant.remit.companies.create({ name: 'Acme' })
		await sink.events(count)
	}
	await expect.poll(async () => (await stats(id)).succeeded, { timeout: 10_000 }).toBe(3)
	const { latency, ...counts } = await stats(id)
	expect(counts).toEqual({ endpointId: id, since, succeeded: 3, failed: 1, successRate: 0.75 })
	const { averageMs = 0, p50Ms = 0, p95Ms = 0, longestMs = 0 } = latency ?? {}
	expect(longestMs).toBeGreaterThanOrEqual(29)
	expect(averageMs).toBeGreaterThanOrEqual(7)
	for (const [less, more] of [[p50Ms, p95Ms], [p95Ms, longestMs], [averageMs, longestMs]] as const) // biome-ignore format: pairs
		expect(less).toBeLessThanOrEqual(more)
	expect(await stats(otherId)).toEqual({ ...none, endpointId: otherId })

	// Nobody listens: an attempt without an answer has no latency.
	await other.stop()
	await tenant.remit.invoices.create({ status: 'paid' })
	await expect.poll(() => stats(otherId), { timeout: 10_000 }).toMatchObject({ failed: 1, successRate: 0, latency: null })
	await sink.stop()

	server.clock.now += 24 * hourMs
	expect(await stats(id)).toEqual({ ...none, since: since + 24 * hourMs })
	await tenant.remit.webhooks.endpoints.delete(otherId)
	expect((await tenant.ask('GET', `/webhooks/endpoints/${otherId}/stats`)).status).toBe(404)
})

it('the figures are of this hour and the 23 before it, and near to the exact ones', async () => {
	const endpointId = await subscribe()
	const { organizationId } = tenant
	const hour = Math.floor(server.clock.now / hourMs)
	const write = (hoursAgo: number, ...durations: number[]) => {
		const endedAt = (hour - hoursAgo) * hourMs + 1
		const attempts = durations.map((durationMs) => ({ durationMs, status: 'succeeded', responseStatus: 204, endedAt }) as const)
		return server.db.transaction((tx) =>
			countAttempts(
				tx,
				attempts.map((attempt) => ({ ...attempt, organizationId, endpointId })),
			),
		)
	}
	await write(24, 9_000, 9_000)
	await write(23, 40)
	await write(1, ...Array.from({ length: 60 }, (_, index) => index + 1))
	await write(0, 30, 12_000)
	for (let times = 0; times < 2; times++) await write(0, ...Array(18).fill(200))
	const { succeeded, latency } = await stats(endpointId)
	expect(succeeded).toBe(99)
	expect(latency).toMatchObject({ averageMs: 213, longestMs: 12_000 })
	// Exactly 49 and 200.
	expect(latency?.p50Ms).toBeGreaterThanOrEqual(45)
	expect(latency?.p50Ms).toBeLessThanOrEqual(55)
	expect(latency?.p95Ms).toBeGreaterThanOrEqual(200)
	expect(latency?.p95Ms).toBeLessThanOrEqual(250)

	// It takes the row of the hour a day before it.
	await write(-1, 7)
	server.clock.now += hourMs
	expect((await stats(endpointId)).succeeded).toBe(99)
})
