// After an outage nothing waits for the schedule: the first success brings the retries forward.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startSubscriber } from '../../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../../test/harness.ts'

const hour = 3_600_000

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

const isBad = (name: string) => name.startsWith('bad')
const nameOf = (event: { data: unknown }) => (event.data as { name: string }).name
/** Answers 2xx to all but the events of the companies that are called so. */
const rejectBad = () => {
	org.sink.answer = ({ event }) => ({ status: isBad(nameOf(event)) ? 500 : 204 })
}

it('the first success after an outage brings all retries forward, each record in its order', async () => {
	org.sink.answer = { status: 503 }
	await org.newEndpoint('company.*')
	const company = await org.change('a1')
	await org.change('a2', company)
	await org.change('b')
	await org.change('c')
	await org.settle('retrying', 'retrying', 'pending', 'retrying')
	const failed = org.sink.received.length
	server.clock.now += 240_000
	org.sink.answer = { status: 204 }
	await org.change('new')
	await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded')
	const arrived = org.arrived().slice(failed)
	expect(arrived.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2'])
	expect(arrived.toSorted()).toEqual(['a1', 'a2', 'b', 'c', 'new'])
})

it('an attempt that was brought forward and fails leaves its schedule as it was, and is not brought forward again', async () => {
	org.sink.answer = { status: 503 }
	await org.newEndpoint('company.*')
	await org.change('bad')
	await org.settle('retrying')
	const { id, nextAttemptAt } = await org.newest()
	server.clock.now += hour
	rejectBad()
	await org.change('good')
	const tried = { status: 'retrying', attemptCount: 2, nextAttemptAt }
	await expect.poll(() => org.read(id), { timeout: 10_000 }).toMatchObject(tried)
	// Whenever the endpoint has accepted another event since: an event that it rejects would be tried all the time.
	server.clock.now += hour
	for (const name of ['better', 'best']) await org.change(name)
	await org.settle('succeeded', 'succeeded', 'succeeded', 'retrying')
	expect(await org.read(id)).toMatchObject(tried)
	// Two attempts of the schedule follow, not more.
	for (const [attemptCount, status] of [
		[3, 'retrying'],
		[4, 'exhausted'],
	] as const) {
		server.clock.now = (await org.read(id)).nextAttemptAt as number
		await expect.poll(() => org.read(id), { timeout: 10_000 }).toMatchObject({ attemptCount, status })
	}
})

it('an event that is rejected while others are accepted waits for its retry', async () => {
	rejectBad()
	await org.newEndpoint('company.*')
	await org.change('bad')
	await org.settle('retrying')
	const { id } = await org.newest()
	const before = await org.read(id)
	await org.change('good')
	await org.settle('succeeded', 'retrying')
	// The engine has gone on with all that is left to do of the endpoint by then.
	await org.change('better')
	await org.settle('succeeded', 'succeeded', 'retrying')
	expect(await org.read(id)).toEqual(before)
})

it('a receiver that asked for a time gets it', async () => {
	org.sink.answer = { status: 500, headers: { 'retry-after': '80000' } }
	const endpoint = await org.newEndpoint('company.*')
	await org.change('asked')
	await org.settle('retrying')
	org.sink.answer = { status: 500 }
	await org.change('not asked')
	await org.settle('retrying', 'retrying')
	server.clock.now += hour
	org.sink.answer = { status: 204 }
	await org.tenant.remit.webhooks.endpoints.test(endpoint)
	await org.settle('succeeded', 'succeeded', 'retrying')
})

it('an attempt that was under way at the recovery, and failed, is made again at once', async () => {
	const slow = Promise.withResolvers<{ status: number }>()
	let isDown = true
	org.sink.answer = ({ event }, count) => {
		if (nameOf(event) === 'slow' && count === 2) return slow.promise
		return { status: isDown ? 500 : 204 }
	}
	await org.newEndpoint('company.*')
	await org.change('b')
	await org.settle('retrying')
	server.clock.now += 50_000
	await org.change('slow')
	await org.sink.events(2)
	// The lease of an attempt is half a minute.
	server.clock.now += 20_000
	isDown = false
	await org.change('new')
	await org.settle('succeeded', 'delivering', 'succeeded')
	slow.resolve({ status: 500 })
	await org.settle('succeeded', 'succeeded', 'succeeded')
})
