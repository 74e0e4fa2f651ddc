// Redelivery, and the paused endpoints that make it necessary.
import type { WebhookDelivery } from '@remit/sdk'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { startSubscriber } from '../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import type { Db } from '../../platform/db/database.ts'
import { countAgain } from './redelivery-store.ts'

type Status = WebhookDelivery['status']

let server: TestServer
let org: Awaited<ReturnType<typeof startSubscriber>>
beforeAll(async () => {
	server = await startTestServer({ WEBHOOK_RETRY_SECONDS: [0, 60, 60] })
})
beforeEach(async () => {
	org = await startSubscriber(server)
	return () => org.stop()
})
afterAll(() => server.close())

describe('a paused endpoint', () => {
	it('keeps what waits and what is new as skipped, until it is asked for again', async () => {
		org.sink.answer = { status: 500 }
		const endpoint = await org.newEndpoint('company.*')
		const company = await org.change('a')
		await org.change('b', company)
		await org.settle('pending', 'retrying')
		await org.setStatus(endpoint, 'paused')
		expect(await org.statuses()).toEqual(['skipped', 'skipped'])
		await org.change('c', company)
		expect(await org.newest()).toMatchObject({ status: 'skipped', nextAttemptAt: null, attemptCount: 0 })
		const { id } = await org.newest()
		for (const answer of [await org.redeliver(id), await org.redeliverAll(endpoint)])
			expect(answer).toMatchObject({ status: 409, body: { code: 'webhook_endpoint_not_active' } })
		org.sink.answer = { status: 204 }
		await org.setStatus(endpoint, 'active')
		await org.change('d', company)
		await org.sink.events(2)
		expect(org.arrived()).toEqual(['a', 'd'])
		expect(await org.redeliverAll(endpoint)).toMatchObject({ status: 200, body: { count: 3 } })
		await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded')
		expect(org.arrived()).toEqual(['a', 'd', 'a', 'b', 'c'])
	})

	it('gets the end of what was under way, and no retry of it', async () => {
		const answer = Promise.withResolvers<{ status: number }>()
		org.sink.answer = () => answer.promise
		const endpoint = await org.newEndpoint('company.*')
		await org.change('a')
		await org.sink.events(1)
		await org.setStatus(endpoint, 'paused')
		expect(await org.statuses()).toEqual(['delivering'])
		answer.resolve({ status: 500 })
		await org.settle('skipped')
		expect(await org.newest()).toMatchObject({ attemptCount: 1, nextAttemptAt: null, lastError: 'answered 500' })
	})
})

describe('asking for a delivery again', () => {
	it('makes it at once, whatever became of it, with the whole schedule', async () => {
		org.sink.answer = (_, count) => ({ status: count === 1 ? 204 : 500 })
		await org.newEndpoint('company.*')
		await org.change('a')
		await org.settle('succeeded')
		const { id } = await org.newest()
		const again = async (attempts: number, status: Status) => {
			expect(await org.redeliver(id)).toMatchObject({ status: 200, body: { ok: true } })
			await expect.poll(() => org.read(id), { timeout: 10_000 }).toMatchObject({ status, attemptCount: attempts })
		}
		/** Moves the clock to the next attempt. */
		const skipAhead = async (attempts: number, status: Status) => {
			server.clock.now = (await org.read(id)).nextAttemptAt as number
			await expect.poll(() => org.read(id), { timeout: 10_000 }).toMatchObject({ status, attemptCount: attempts })
		}
		await again(2, 'retrying')
		await skipAhead(3, 'retrying')
		await again(4, 'retrying')
		await skipAhead(5, 'retrying')
		await skipAhead(6, 'exhausted')
		expect(await org.read(id)).toMatchObject({ nextAttemptAt: null })
		org.sink.answer = { status: 204 }
		await again(7, 'succeeded')
		const ids = org.sink.received.map(({ headers }) => headers['webhook-id'])
		expect(ids).toEqual(Array(7).fill((await org.read(id)).eventId))
		const { attempts } = await org.read(id)
		expect(attempts.map(({ responseStatus }) => responseStatus)).toEqual([204, 500, 500, 500, 500, 500, 204])
	})

	it('is refused while it waits for its turn, is under way, or has no endpoint any more', async () => {
		const endpoint = await org.newEndpoint('company.*')
		org.sink.answer = { hang: true }
		const company = await org.change('a')
		await org.change('b', company)
		await org.settle('pending', 'delivering')
		for (const { id } of (await org.list()).data)
			expect(await org.redeliver(id)).toMatchObject({ status: 409, body: { code: 'delivery_under_way' } })
		await org.tenant.remit.webhooks.endpoints.delete(endpoint)
		for (const { id } of (await org.list()).data)
			expect(await org.redeliver(id)).toMatchObject({ status: 409, body: { code: 'webhook_endpoint_not_active' } })
	})

	it('takes all that were skipped or exhausted, of events since a time if asked, and each record in its order', async () => {
		const endpoint = await org.newEndpoint('company.*')
		await org.setStatus(endpoint, 'paused')
		const [one, other] = [await org.change('1a'), await org.change('2a')]
		const since = server.clock.now + 1000
		await org.change('1b', one)
		await org.change('2b', other)
		await org.change('1c', one)
		await org.change('2c', other)
		await org.setStatus(endpoint, 'active')
		expect((await org.redeliverAll(endpoint, { since: server.clock.now + 1 })).body).toEqual({ count: 0 })
		expect((await org.redeliverAll(endpoint, { since: new Date(since).toISOString() })).body).toEqual({ count: 4 })
		await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded', 'skipped', 'skipped')
		const of = (company: string) => org.arrived().filter((name) => name.startsWith(company))
		expect([of('1'), of('2')]).toEqual([
			['1b', '1c'],
			['2b', '2c'],
		])
		expect((await org.redeliverAll(endpoint)).body).toEqual({ count: 2 })
		await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded')
		expect((await org.redeliverAll(endpoint, {})).body).toEqual({ count: 0 })
		expect(org.arrived()).toHaveLength(6)
	})

	it('takes what waits for a retry, in the order of its record and with the whole schedule', async () => {
		org.sink.answer = { status: 500 }
		const endpoint = await org.newEndpoint('company.*')
		const company = await org.change('1a')
		await org.change('1b', company)
		await org.change('2')
		await org.settle('retrying', 'pending', 'retrying')
		const failed = org.sink.received.length
		expect((await org.redeliverAll(endpoint, { status: 'skipped' })).body).toEqual({ count: 0 })
		expect((await org.redeliverAll(endpoint, { since: server.clock.now + 1 })).body).toEqual({ count: 0 })
		expect((await org.redeliverAll(endpoint)).body).toEqual({ count: 2 })
		await org.settle('retrying', 'pending', 'retrying')
		// The first attempt of a schedule of three: a second wait of a minute follows.
		const { data } = await org.list({ status: 'retrying' })
		for (const { nextAttemptAt } of data) expect((nextAttemptAt ?? 0) - server.clock.now).toBeLessThanOrEqual(72_000)
		org.sink.answer = { status: 204 }
		expect((await org.redeliverAll(endpoint, { status: 'retrying' })).body).toEqual({ count: 2 })
		await org.settle('succeeded', 'succeeded', 'succeeded')
		const arrived = org.arrived().slice(failed + 2)
		expect(arrived.filter((name) => name.startsWith('1'))).toEqual(['1a', '1b'])
		expect(arrived).toHaveLength(3)
	})

	it('takes what succeeded too, if asked, and each record in its order', async () => {
		const endpoint = await org.newEndpoint('company.*')
		const company = await org.change('1a')
		await org.change('1b', company)
		await org.settle('succeeded', 'succeeded')
		await org.setStatus(endpoint, 'paused')
		await org.change('1c', company)
		await org.setStatus(endpoint, 'active')
		expect((await org.redeliverAll(endpoint, { status: 'exhausted' })).body).toEqual({ count: 0 })
		expect((await org.redeliverAll(endpoint, { status: 'succeeded' })).body).toEqual({ count: 2 })
		await org.settle('skipped', 'succeeded', 'succeeded')
		expect((await org.redeliverAll(endpoint, { status: 'all' })).body).toEqual({ count: 3 })
		await org.settle('succeeded', 'succeeded', 'succeeded')
		expect(org.arrived()).toEqual(['1a', '1b', '1a', '1b', '1a', '1b', '1c'])
		expect(await org.redeliverAll(endpoint, { status: 'pending' })).toMatchObject({
			status: 400,
			body: { errors: [expect.objectContaining({ pointer: '/status' })] },
		})
	})

	it('begins with the oldest when there are more than are made at once', async () => {
		const endpoint = await org.newEndpoint('company.*')
		await org.setStatus(endpoint, 'paused')
		const names = Array.from({ length: 40 }, (_, index) => `${index}`)
		for (const name of names) await org.change(name)
		await org.setStatus(endpoint, 'active')
		org.sink.answer = { hang: true }
		expect((await org.redeliverAll(endpoint)).body).toEqual({ count: 40 })
		await org.sink.events(5)
		expect(new Set(org.arrived())).toEqual(new Set(names.slice(0, 5)))
	})
})

if (inject('database') === 'postgres') {
	describe('a database that stands still', () => {
		it('holds deliveries up for little longer than that', async () => {
			await org.newEndpoint('company.*')
			const client = new pg.Client(server.settings.DATABASE_URL)
			await client.connect()
			await client.query('begin')
			await client.query('lock table webhook_endpoints in access exclusive mode')
			const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
			and clock_timestamp() - query_start > '1 s'`
			await expect.poll(async () => (await client.query(waiting)).rowCount, { timeout: 10_000 }).toBeGreaterThan(0)
			await client.query('rollback')
			await client.end()
			await org.change('a')
			await org.sink.events(1, 5_000)
		})
	})
}

describe('the number of deliveries to make again', () => {
	it('is not counted for a request that is rejected, and of a very long list it is the beginning', async () => {
		let counted = 0
		const { get } = server.db
		const counting: Db['get'] = (query, params) => {
			if ('after' in params) counted++
			return get(query, params)
		}
		server.db.get = counting
		const endpoint = await org.newEndpoint('company.*')
		await org.setStatus(endpoint, 'paused')
		expect(await org.redeliverAll(endpoint, { status: 'all' })).toMatchObject({ status: 409 })
		expect(counted).toBe(0)
		await org.setStatus(endpoint, 'active')
		expect(await org.redeliverAll(endpoint, { status: 'all' })).toMatchObject({ status: 200, body: { count: 0 } })
		expect(counted).toBe(1)
		server.db.get = get

		const endless = { get: async () => ({ looked: 5_000, matching: 4_000, last: 'whd_1' }) } as unknown as Db
		expect(await countAgain(endless, { organizationId: 'org_1', id: endpoint }, 'all', 0)).toBe(40_000)
	})
})
