// How long an event that is rejected holds the later events of its record back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startSubscriber } from '../../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'
import { releaseHeld } from './backlogs.ts'

const minute = 60_000

let server: TestServer
let org: Awaited<ReturnType<typeof startSubscriber>>
beforeAll(async () => {
	server = await startTestServer({ WEBHOOK_RETRY_SECONDS: [0, 36_000, 36_000] })
})
beforeEach(async () => {
	org = await startSubscriber(server)
	return () => org.stop()
})
afterAll(() => server.close())

const nameOf = (event: { data: unknown }) => (event.data as { name: string }).name
const reject = (...names: string[]) => {
	org.sink.answer = ({ event }) => ({ status: names.includes(nameOf(event)) ? 500 : 204 })
}
/** The server does so every second. */
async function pass(ms: number): Promise<void> {
	server.clock.now += ms
	await releaseHeld(server.db, server.clock.now)
}
/** An event of a record of its own: the endpoint works, and all that was due before has been attempted. */
async function accepted(name: string): Promise<void> {
	await org.change(name)
	await expect.poll(() => org.arrived(), { timeout: 10_000 }).toContain(name)
}
const oldest = async () => (await org.list()).data.at(-1) as { id: string }

describe('a rejected event', () => {
	it('holds the later ones of its record back for five minutes, and is then retried on its own', async () => {
		reject('a1')
		await org.newEndpoint('company.*')
		const company = await org.change('a1')
		await org.settle('retrying')
		const failedAt = server.clock.now
		// So it is no outage, after which the event would be tried again.
		await accepted('other')
		for (const name of ['a2', 'a3']) await org.change(name, company)
		await pass(failedAt + 5 * minute - 1_001 - server.clock.now)
		await accepted('another')
		await org.settle('succeeded', 'pending', 'pending', 'succeeded', 'retrying')
		const { id } = await oldest()
		expect(await org.read(id)).toMatchObject({ outOfOrder: false })
		await pass(minute)
		await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded', 'retrying')
		expect(org.arrived()).toEqual(['a1', 'other', 'another', 'a2', 'a3'])
		const { outOfOrder, nextAttemptAt } = await org.read(id)
		expect(outOfOrder).toBe(true)
		await org.change('a4', company)
		await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded', 'retrying')

		reject()
		server.clock.now = nextAttemptAt as number
		await expect.poll(() => org.read(id), { timeout: 10_000 }).toMatchObject({ status: 'succeeded' })
		const marks = org.sink.received.map(({ event, headers }) => [nameOf(event), headers['webhook-out-of-order']])
		expect(marks).toEqual([
			['a1', undefined],
			['other', undefined],
			['another', undefined],
			['a2', undefined],
			['a3', undefined],
			['a4', undefined],
			['a1', 'true'],
		])
		expect((await org.list()).data.map((delivery) => delivery.outOfOrder)).toEqual([...Array(5).fill(false), true])
	})

	it('does so alone: a later one that is rejected too holds back those after it', async () => {
		reject('a1', 'a2')
		await org.newEndpoint('company.*')
		const company = await org.change('a1')
		for (const name of ['a2', 'a3']) await org.change(name, company)
		await org.settle('pending', 'pending', 'retrying')
		await pass(5 * minute)
		await org.settle('pending', 'retrying', 'retrying')
		await pass(4 * minute)
		await accepted('other')
		await org.settle('succeeded', 'pending', 'retrying', 'retrying')
		await pass(minute)
		await org.settle('succeeded', 'succeeded', 'retrying', 'retrying')
	})

	it('keeps its order again when it is delivered again', async () => {
		reject('a1')
		const endpoint = await org.newEndpoint('company.*')
		const company = await org.change('a1')
		await org.settle('retrying')
		await pass(5 * minute)
		const { id } = await oldest()
		expect(await org.read(id)).toMatchObject({ outOfOrder: true })
		await org.redeliverAll(endpoint)
		await expect.poll(() => org.read(id), { timeout: 10_000 }).toMatchObject({ attemptCount: 2, outOfOrder: false })
		await org.change('a2', company)
		await accepted('other')
		await org.settle('succeeded', 'pending', 'retrying')
	})

	it('does not let the next one overtake an earlier one that is delivered again', async () => {
		await org.newEndpoint('company.*')
		const company = await org.change('a1')
		await org.settle('succeeded')
		const { id } = await oldest()
		reject('a1', 'a2')
		await org.change('a2', company)
		await org.settle('retrying', 'succeeded')
		await pass(5 * minute)
		await org.redeliver(id)
		await org.settle('retrying', 'retrying')
		await org.change('a3', company)
		await accepted('other')
		// The success brings both retries forward, of which the one out of order is nobody's predecessor.
		const [, , late] = (await org.list()).data
		await expect
			.poll(() => org.read(late?.id as string), { timeout: 10_000 })
			.toMatchObject({ attemptCount: 2, outOfOrder: true })
		await org.settle('succeeded', 'pending', 'retrying', 'retrying')
		await pass(5 * minute)
		await org.settle('succeeded', 'succeeded', 'retrying', 'retrying')
	})

	it('holds them back for as long as its endpoint is down', async () => {
		org.sink.answer = { status: 500 }
		await org.newEndpoint('company.*')
		const company = await org.change('a1')
		for (const name of ['a2', 'a3']) await org.change(name, company)
		await org.settle('pending', 'pending', 'retrying')
		await pass(61 * minute)
		await org.settle('pending', 'retrying', 'retrying')
		await pass(10 * minute)
		await org.change('b')
		await org.settle('retrying', 'pending', 'retrying', 'retrying')
		reject()
		await org.change('c')
		await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded')
	})
})

describe('a rejected event whose receiver asked for a day', () => {
	it('holds its record for five minutes as well, also in the second hour of an outage', async () => {
		org.sink.answer = { status: 500 }
		await org.newEndpoint('company.*')
		await org.change('x')
		await org.settle('retrying')
		server.clock.now += 61 * minute
		org.sink.answer = { status: 500, headers: { 'retry-after': '86400' } }
		const company = await org.change('a1')
		await org.change('a2', company)
		await org.settle('pending', 'retrying', 'retrying')
		reject()
		await pass(5 * minute)
		await org.settle('succeeded', 'retrying', 'succeeded')
		expect(org.arrived().slice(-2).sort()).toEqual(['a2', 'x'])
	})
})

describe('an endpoint without an order', () => {
	const update = (endpoint: string, ordering: 'none' | 'resource') =>
		org.tenant.remit.webhooks.endpoints.update(endpoint, { ordering })

	it('gets an event whatever became of those before it', async () => {
		reject('a1')
		const endpoint = await org.newEndpoint('company.*')
		expect((await org.tenant.remit.webhooks.endpoints.get(endpoint)).ordering).toBe('resource')
		await update(endpoint, 'none')
		const company = await org.change('a1')
		await org.settle('retrying')
		for (const name of ['a2', 'a3']) await org.change(name, company)
		await org.settle('succeeded', 'succeeded', 'retrying')
		expect(await org.read((await oldest()).id)).toMatchObject({ outOfOrder: true })
	})

	it('can be created so, and gets what waits for an attempt that is under way once that fails', async () => {
		const { remit } = org.tenant
		const body = { url: org.sink.url, eventTypes: ['company.*'], ordering: 'resource' as const }
		const { id, secret } = await remit.webhooks.endpoints.create(body)
		org.sink.secrets.push(secret)
		const answer = Promise.withResolvers<{ status: number }>()
		org.sink.answer = ({ event }) => (nameOf(event) === 'a1' ? answer.promise : { status: 204 })
		const company = await org.change('a1')
		await org.change('a2', company)
		await org.settle('pending', 'delivering')
		await update(id, 'none')
		answer.resolve({ status: 500 })
		await org.settle('succeeded', 'retrying')
		const none = await remit.webhooks.endpoints.create({ ...body, ordering: 'none' })
		expect((await remit.webhooks.endpoints.get(none.id)).ordering).toBe('none')
	})
})
