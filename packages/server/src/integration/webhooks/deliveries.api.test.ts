// How deliveries are read.
import type { WebhookDelivery } from '@remit/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startSubscriber } from '../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../test/harness.ts'

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

describe('the list of deliveries', () => {
	it('can be narrowed to an endpoint, a status and an event, together too', async () => {
		const [one, other] = [await org.newEndpoint('company.*'), await org.newEndpoint('*')]
		await org.change('a')
		await org.settle('succeeded', 'succeeded')
		await org.setStatus(other, 'paused')
		await org.change('b')
		await expect.poll(() => org.statuses({ status: 'succeeded' }), { timeout: 10_000 }).toHaveLength(3)
		const { data, meta } = await org.list()
		expect(meta.total).toBe(4)
		expect(data.map(({ createdAt }) => createdAt)).toEqual(data.map(({ createdAt }) => createdAt).toSorted((a, b) => b - a))
		const ids = (deliveries: WebhookDelivery[]) => deliveries.map(({ id }) => id)
		const expectOnly = async (filters: Record<string, string>, fits: (delivery: WebhookDelivery) => boolean, count: number) => {
			const found = await org.list(filters)
			expect(ids(found.data)).toEqual(ids(data.filter(fits)))
			expect({ length: found.data.length, total: found.meta.total }).toEqual({ length: count, total: count })
		}
		const { eventId } = data[0] as WebhookDelivery
		await expectOnly({ endpointId: one }, ({ endpointId }) => endpointId === one, 2)
		await expectOnly({ status: 'skipped' }, ({ status }) => status === 'skipped', 1)
		await expectOnly({ eventId }, (delivery) => delivery.eventId === eventId, 2)
		await expectOnly({ eventId, endpointId: one }, (delivery) => delivery.eventId === eventId && delivery.endpointId === one, 1)
		await expectOnly({ eventId, endpointId: one, status: 'skipped' }, () => false, 0)
		await expectOnly({ eventId: 'evt_' }, () => false, 0)
		await expectOnly({ endpointId: 'whe_unknown' }, () => false, 0)
		expect(await (await server.newTenant()).remit.webhooks.deliveries.list({ eventId })).toMatchObject({ data: [] })
	})

	it('can be narrowed to a record, to a kind of records, to a type or all types of a kind, and to a time', async () => {
		await org.newEndpoint('*')
		const company = await org.change('a')
		const since = server.clock.now + 1_000
		await org.change('b', company)
		await org.change('c')
		const { id: invoice } = await org.tenant.remit.invoices.create({ totalCents: 1 })
		await org.sink.events(4)
		await org.settle('succeeded', 'succeeded', 'succeeded', 'succeeded')
		const types = async (filters: Record<string, string>) => {
			const { data, meta } = await org.list(filters)
			expect(meta.total).toBe(data.length)
			return data.map(({ eventType }) => eventType)
		}
		const [created, updated] = ['company.created', 'company.updated']
		expect(await types({ resourceId: company })).toEqual([updated, created])
		expect(await types({ resourceId: company, type: 'company.updated' })).toEqual([updated])
		expect(await types({ resourceId: company, type: 'invoice.*' })).toEqual([])
		expect(await types({ resourceId: invoice, resourceType: 'invoice' })).toEqual(['invoice.created'])
		expect(await types({ resourceType: 'company' })).toEqual([created, updated, created])
		expect((await org.list({ type: 'company.*', status: 'succeeded', offset: '1' })).data).toHaveLength(2)
		expect(await types({ type: 'company.*', since: String(since) })).toEqual([created, updated])
		expect(await types({ type: 'company.*', resourceType: 'invoice' })).toEqual([])
		expect(await types({ type: 'invoice.created' })).toEqual(['invoice.created'])
		expect(await types({ since: String(since) })).toHaveLength(3)
		expect(await types({ type: '*' })).toHaveLength(4)
		const endpointId = (await org.newest()).endpointId
		expect(await types({ endpointId, type: 'company.*' })).toEqual([created, updated, created])
		expect(await types({ endpointId, type: 'company.updated', status: 'succeeded' })).toEqual([updated])
		expect(await types({ endpointId: 'whe_unknown', type: 'company.*' })).toEqual([])
		const first = await org.list({ type: 'company.*', limit: '2' })
		const rest = await org.list({ type: 'company.*', limit: '2', cursor: first.meta.nextCursor as string })
		expect([...first.data, ...rest.data].map(({ eventType }) => eventType)).toEqual([created, updated, created])
		for (const query of ['type=invoice', 'type=company.*&offset=10001', 'since=soon'])
			expect(await org.tenant.ask('GET', `/webhooks/deliveries?${query}`)).toMatchObject({ status: 400 })
	})

	it('is walked by cursor without a repeat or a gap while new ones arrive', async () => {
		await org.newEndpoint('company.*')
		for (let count = 0; count < 9; count++) await org.change(`old ${count}`)
		const before = (await org.list()).data.map(({ id }) => id)
		const seen: string[] = []
		let cursor: string | null = null
		for (let page = 0; page === 0 || cursor !== null; page++) {
			const { data, meta } = await org.list({ limit: '2', ...(cursor !== null && { cursor }) })
			expect(meta).toMatchObject({ total: page === 0 ? 9 : null, hasMore: page < 4 })
			seen.push(...data.map(({ id }) => id))
			cursor = meta.nextCursor
			await org.change(`new ${page}`)
		}
		expect(seen).toEqual(before)
	})

	it('is iterated whole by the SDK, while it grows too', async () => {
		await org.newEndpoint('company.*')
		for (let count = 0; count < 6; count++) await org.change(`old ${count}`)
		const before = (await org.list()).data.map(({ id }) => id)
		const seen: string[] = []
		for await (const { id } of org.tenant.remit.webhooks.deliveries.list({ limit: 2 })) {
			seen.push(id)
			await org.change('new')
		}
		expect(seen).toEqual(before)
	})
})

/** The request that the receiver got, but for the headers that HTTP needs. */
function sentTo(index: number) {
	const { headers, body, path } = org.sink.received[index] as (typeof org.sink.received)[number]
	const { host, connection, 'content-length': length, 'transfer-encoding': encoding, ...sent } = headers
	return { url: new URL(path, org.sink.url).href, headers: sent, body }
}

describe('a delivery', () => {
	it('shows its attempts, what was answered, and when the next one is', async () => {
		org.sink.answer = { status: 503, body: 'not now' }
		await org.newEndpoint('company.*')
		await org.change('a')
		await org.settle('retrying')
		const { id } = await org.newest()
		const first = await org.read(id)
		expect(first).toMatchObject({ attemptCount: 1, lastResponseStatus: 503, lastError: 'answered 503' })
		expect(first.nextAttemptAt).toBeGreaterThanOrEqual(server.clock.now + 48_000)
		expect(first.nextAttemptAt).toBeLessThanOrEqual(server.clock.now + 72_000)
		expect(first.request).toEqual(sentTo(0))
		org.sink.answer = { status: 200, body: 'thanks' }
		const firstAt = server.clock.now
		server.clock.now = first.nextAttemptAt as number
		await org.settle('succeeded')
		const durationMs = expect.any(Number)
		expect(await org.read(id)).toEqual({
			...first,
			status: 'succeeded',
			attemptCount: 2,
			nextAttemptAt: null,
			lastResponseStatus: 200,
			lastError: null,
			updatedAt: server.clock.now,
			request: sentTo(1),
			attempts: [
				{ startedAt: firstAt, durationMs, responseStatus: 503, responseBody: 'not now', error: 'answered 503' },
				{ startedAt: server.clock.now, durationMs, responseStatus: 200, responseBody: 'thanks', error: null },
			],
		})
	})

	it('shows its request as it was sent, after the endpoint has another URL and another secret', async () => {
		const endpoint = await org.newEndpoint('company.*')
		await org.change('Zoë "株式会社" \\ 🧾')
		await org.settle('succeeded')
		const sent = sentTo(0)
		const { endpoints } = org.tenant.remit.webhooks
		await endpoints.update(endpoint, { url: 'http://127.0.0.1:9/elsewhere' })
		const { secret } = await endpoints.rotateSecret(endpoint, { graceSeconds: 0 })
		const delivery = await org.read((await org.newest()).id)
		expect(delivery.request).toEqual(sent)
		expect(JSON.stringify(delivery)).not.toContain(secret.slice(6))
		expect(sent.headers).toMatchObject({ 'webhook-signature': expect.stringMatching(/^v1,/), 'webhook-id': delivery.eventId })
	})

	it('shows no request when none was sent', async () => {
		await org.newEndpoint('company.*')
		org.sink.answer = { status: 500 }
		await org.change('a')
		await org.settle('retrying')
		const { id, nextAttemptAt } = await org.newest()
		expect((await org.read(id)).request).toEqual(sentTo(0))
		const port = Number(new URL(org.sink.url).port)
		await org.sink.stop()
		server.clock.now = nextAttemptAt as number
		await expect.poll(() => org.read(id), { timeout: 10_000 }).toMatchObject({ attemptCount: 2, request: null })
		expect((await org.read(id)).lastError).toMatch(/^connection (refused|reset)/)
		await org.sink.start('127.0.0.1', port)
	})

	it('is `delivering` without a next attempt while one is under way', async () => {
		org.sink.answer = { hang: true }
		await org.newEndpoint('company.*')
		await org.change('a')
		await org.sink.events(1)
		expect(await org.newest()).toMatchObject({ status: 'delivering', nextAttemptAt: null, attemptCount: 0 })
		expect(await org.read((await org.newest()).id)).toMatchObject({ attempts: [], request: null })
	})

	it('is listed, counted and made again by what it is, not by what it was before it was under way', async () => {
		org.sink.answer = (_, count) => (count === 1 ? { status: 500 } : { hang: true })
		const endpoint = await org.newEndpoint('company.*')
		await org.change('a')
		await org.settle('retrying')
		server.clock.now = (await org.newest()).nextAttemptAt as number
		await org.settle('delivering')
		await org.change('b')
		await org.settle('delivering', 'delivering')
		const totals = async (statuses: readonly string[]) =>
			Promise.all(statuses.map(async (status) => (await org.list({ status, limit: '1' })).meta.total))
		expect(await totals(['delivering', 'pending', 'retrying'])).toEqual([2, 0, 0])
		expect(await org.statuses({ status: 'retrying' })).toEqual([])
		expect(await org.statuses({ status: 'delivering', endpointId: endpoint })).toEqual(['delivering', 'delivering'])
		expect(await org.redeliverAll(endpoint, { status: 'retrying' })).toMatchObject({ body: { count: 0 } })
		expect(await org.statuses()).toEqual(['delivering', 'delivering'])
	})

	it.each([
		['the first 16 KiB', 'x'.repeat(40_000), 'x'.repeat(16_384)],
		['16 KiB whole', 'é'.repeat(8192), 'é'.repeat(8192)],
		['a character cut at 16 KiB replaced', `x${'é'.repeat(8192)}`, `x${'é'.repeat(8191)}\uFFFD`],
		[
			'NUL and invalid UTF-8 replaced',
			Buffer.from([0x61, 0, 0x62, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
			'a\uFFFDb\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD',
		],
		[
			'quotes, control characters and emoji',
			'{"a":"\\u0000 \\" \u0001\u001f\u2028 🧾"}',
			'{"a":"\\u0000 \\" \u0001\u001f\u2028 🧾"}',
		],
	])('keeps of an answer: %s', async (_, body, kept) => {
		org.sink.answer = { status: 200, body }
		await org.newEndpoint('company.*')
		await org.change('a')
		await org.settle('succeeded')
		expect((await org.read((await org.newest()).id)).attempts[0]?.responseBody).toBe(kept)
	})

	it('is found by its own organization only', async () => {
		await org.newEndpoint('company.*')
		await org.change('a')
		const { id } = await org.newest()
		const stranger = await server.newTenant()
		for (const [method, path] of [
			['GET', `/webhooks/deliveries/${id}`],
			['POST', `/webhooks/deliveries/${id}/redeliver`],
		] as const) {
			const answer = await stranger.ask(method, path)
			expect(answer).toMatchObject({ status: 404, body: { code: 'webhook_delivery_not_found' } })
			expect((await org.tenant.ask(method, path.replace(id, 'whd_unknown'))).status).toBe(404)
		}
	})
})
