// Each record's events reach an endpoint in the order of their `sequence`, whatever fails, and no record waits for another.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { Sink } from '../../../../test/sink.ts'

let server: TestServer
let tenant: Tenant
let sink: Sink
let endpointId: string
beforeAll(async () => {
	server = await startTestServer({ WEBHOOK_RETRY_SECONDS: [0, 1, 1] })
})
beforeEach(async () => {
	tenant = await server.newTenant()
	sink = await new Sink().start()
	endpointId = await sink.subscribe(tenant.remit, '*')
	return async () => {
		expect(sink.problems).toEqual([])
		await sink.stop()
	}
})
afterAll(() => server.close())

/** Moves the clock on, retry by retry, until `done`. */
async function passUntil(done: () => boolean | Promise<boolean>): Promise<void> {
	await vi.waitUntil(
		async () => {
			server.clock.now += 250
			await server.db.transaction(async () => {})
			return done()
		},
		{ timeout: 20_000, interval: 5 },
	)
}

const sequencesOf = (id: string) =>
	sink.received.filter(({ event }) => event.resource.id === id).map(({ event }) => event.sequence)
const statuses = async (): Promise<string[]> => {
	const { data } = (await tenant.ask('GET', '/webhooks/deliveries?limit=100')).body
	return data.map(({ status }: { status: string }) => status)
}
const allDone = async () => (await statuses()).every((status) => status === 'succeeded' || status === 'exhausted')

describe('the events of a record', () => {
	it('wait for the first while it fails, and those of other records do not', async () => {
		const { id: first } = await tenant.remit.companies.create({ name: '1' })
		await sink.events(1)
		let failures = 0
		sink.answer = ({ event }) => (event.resource.id === first && ++failures <= 2 ? { status: 500 } : {})
		for (const name of ['2', '3', '4']) await tenant.remit.companies.update(first, { name })
		const { id: other } = await tenant.remit.companies.create({ name: 'other' })
		await tenant.remit.companies.update(other, { name: 'another' })
		await vi.waitUntil(() => sequencesOf(other).length === 2, { timeout: 5_000, interval: 5 })
		expect(sequencesOf(first)).toEqual([1, 2])
		await passUntil(() => sequencesOf(first).length === 6)
		expect(sequencesOf(first)).toEqual([1, 2, 2, 2, 3, 4])
		await expect.poll(allDone, { timeout: 5_000, interval: 5 }).toBe(true)
	})

	it('wait for no test of the endpoint, nor one test for another that fails', async () => {
		sink.answer = () => ({ status: 500 })
		const sent = new Set<string>()
		for (let count = 1; count <= 3; count++) {
			sent.add((await tenant.remit.webhooks.endpoints.test(endpointId)).id)
			await vi.waitUntil(() => sink.received.length === count, { timeout: 5_000, interval: 5 })
		}
		expect(sink.received.map(({ event }) => event.type)).toEqual(Array(3).fill('webhook.test'))
		expect(sent.size).toBe(3)
		sink.answer = () => ({})
		await passUntil(allDone)
	})

	it('go on after one whose attempts are used up', async () => {
		sink.answer = ({ event }) => ({ status: event.sequence === 1 ? 500 : 204 })
		const { id } = await tenant.remit.companies.create({ name: '1' })
		for (const name of ['2', '3']) await tenant.remit.companies.update(id, { name })
		await passUntil(() => sequencesOf(id).length === 5)
		expect(sequencesOf(id)).toEqual([1, 1, 1, 2, 3])
		await expect.poll(allDone, { timeout: 5_000, interval: 5 }).toBe(true)
		expect((await statuses()).toSorted()).toEqual(['exhausted', 'succeeded', 'succeeded'])
	})

	it('never overlap at the receiver, while an answer takes its time', async () => {
		const { id } = await tenant.remit.companies.create({ name: '1' })
		const under = new Set<string>()
		sink.answer = async ({ event }) => {
			expect(under).not.toContain(event.resource.id)
			under.add(event.resource.id)
			await new Promise((resolve) => setTimeout(resolve, 10))
			under.delete(event.resource.id)
			return {}
		}
		await Promise.all(Array.from({ length: 12 }, (_, n) => tenant.remit.companies.update(id, { name: `name ${n}` })))
		await sink.events(13)
		expect(sequencesOf(id)).toEqual(Array.from({ length: 13 }, (_, n) => n + 1))
	})

	it('come in order through 200 updates of five invoices at once, of which many fail once', async () => {
		const invoices = await Promise.all([1, 2, 3, 4, 5].map((totalCents) => tenant.remit.invoices.create({ totalCents })))
		await sink.events(5)
		const accepted = new Map(invoices.map(({ id }) => [id, 1]))
		const early: string[] = []
		const failed = new Set<string>()
		sink.answer = ({ event }, count) => {
			const { id } = event.resource
			if (event.sequence !== (accepted.get(id) ?? 0) + 1) early.push(`${id} ${event.sequence} after ${accepted.get(id)}`)
			// Each event fails at most once, so that none uses up its attempts.
			if (count % 7 === 0 && !failed.has(event.id)) {
				failed.add(event.id)
				return { status: 500 }
			}
			accepted.set(id, event.sequence)
			return {}
		}
		const updates = Array.from({ length: 200 }, (_, n) => {
			const { id = '' } = invoices[n % 5] ?? {}
			return tenant.remit.invoices.update(id, { notes: `note ${n}` })
		})
		await Promise.all(updates)
		await passUntil(() => [...accepted.values()].every((sequence) => sequence === 41))
		expect(early).toEqual([])
		expect(failed.size).toBeGreaterThan(10)
		expect(sink.received).toHaveLength(205 + failed.size)
	})

	it('are taken up again in order after a pause', async () => {
		await tenant.remit.webhooks.endpoints.update(endpointId, { status: 'paused' })
		const ids: string[] = []
		for (const name of ['A', 'B']) ids.push((await tenant.remit.companies.create({ name })).id)
		for (const id of ids) for (const n of [1, 2]) await tenant.remit.companies.update(id, { name: `name ${n}` })
		await tenant.remit.webhooks.endpoints.update(endpointId, { status: 'active' })
		await tenant.remit.webhooks.endpoints.redeliver(endpointId)
		await tenant.remit.companies.update(ids[0] ?? '', { name: 'last' })
		await sink.events(7)
		expect(ids.map(sequencesOf)).toEqual([
			[1, 2, 3, 4],
			[1, 2, 3],
		])
	})
})
