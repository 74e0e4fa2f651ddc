// How owners create, read, change and delete endpoints, and the life of an endpoint's secrets.
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { recordsAt } from '../../../test/records.ts'
import { type Received, Sink } from '../../../test/sink.ts'
import { query } from '../../platform/db/database.ts'

let server: TestServer
let tenant: Tenant
let sink: Sink
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	sink = await new Sink().start()
	return async () => {
		expect(sink.problems).toEqual([])
		await sink.stop()
	}
})
afterAll(() => server.close())

const endpoints = recordsAt('/webhooks/endpoints')
const newEndpoint = async (more: object = {}): Promise<{ id: string; secret: string }> => {
	const { status, body } = await endpoints.post(tenant, { url: sink.url, eventTypes: ['company.*'], ...more })
	expect(status).toBe(201)
	sink.secrets.push(body.secret)
	return body
}
const act = (id: string, action: string, body?: object): Promise<Answer> =>
	tenant.ask('POST', `${endpoints.at(id)}/${action}`, body && { body })

const secretPattern = /^whsec_[A-Za-z0-9+/]{43}=$/
type Row = Record<string, unknown>
const rowsOf = (table: string) =>
	server.db.all(
		query<{ organizationId: string }, Row>((knex, mine) => knex(table).where(mine)),
		{ organizationId: tenant.organizationId },
	)
const stored = (id: string) => rowsOf('webhook_endpoints').then((rows) => rows.find((row) => row.id === id) as Row)

describe('a new endpoint', () => {
	it('answers its id and a secret of 32 bytes, and is then shown without it', async () => {
		const created = await endpoints.post(tenant, { url: sink.url, eventTypes: ['invoice.paid', 'company.*'] })
		expect(created).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^whe_/) } })
		const { id, secret } = created.body
		expect(secret).toMatch(secretPattern)
		expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
		expect(created.headers.get('location')).toBe(`/webhooks/endpoints/${id}`)
		expect(created.headers.get('etag')).toBe('"1"')
		expect(await endpoints.read(tenant, id)).toEqual({
			id,
			organizationId: tenant.organizationId,
			url: sink.url,
			description: null,
			eventTypes: ['invoice.paid', 'company.*'],
			resources: null,
			status: 'active',
			disabledReason: null,
			failingSince: null,
			ordering: 'resource',
			headerNames: [],
			secretHint: secret.slice(-5),
			previousSecretExpiresAt: null,
			createdAt: server.clock.now,
			updatedAt: server.clock.now,
			version: 1,
		})
	})

	it('shows its secret in no answer after that, and stores it sealed', async () => {
		const { secret } = await newEndpoint()
		const once = { headers: { 'idempotency-key': 'once' } }
		const body = { url: sink.url, eventTypes: ['*'] }
		const { id, secret: other } = (await tenant.ask('POST', '/webhooks/endpoints', { body, ...once })).body
		sink.secrets.push(other)
		const rotated = (await tenant.ask('POST', `${endpoints.at(id)}/rotate-secret`, once)).body.secret
		sink.secrets.push(rotated)
		await act(id, 'test')
		const [event] = await sink.events(1)
		const shown = await Promise.all([
			endpoints.get(tenant, id),
			tenant.ask('GET', '/webhooks/endpoints'),
			endpoints.patch(tenant, id, { description: 'x' }),
			tenant.ask('GET', '/webhooks/events'),
			tenant.ask('GET', '/webhooks/deliveries'),
			endpoints.remove(tenant, (await newEndpoint()).id),
		])
		const tables = await Promise.all(['webhook_endpoints', 'idempotency_keys', 'events', 'webhook_deliveries'].map(rowsOf))
		expect(tables.map((rows) => rows.length > 0)).toEqual([true, true, true, true])
		const everything = JSON.stringify([event, shown.map(({ text }) => text), tables])
		for (const one of [secret, other, rotated]) {
			expect(everything).not.toContain(one.slice(6))
			expect(everything).not.toContain(Buffer.from(one.slice(6), 'base64').toString('hex'))
		}
	})

	it('is made once for an idempotency key, however often it is asked for', async () => {
		const body = { url: sink.url, eventTypes: ['*'] }
		const ask = () => tenant.ask('POST', '/webhooks/endpoints', { body, headers: { 'idempotency-key': 'k' } })
		const [first, second] = [await ask(), await ask()]
		expect(second.body).toEqual(first.body)
		expect(await endpoints.ids(tenant)).toEqual([first.body.id])
	})

	it('gets nothing of what happened before it', async () => {
		await tenant.remit.companies.create({ name: 'before' })
		await newEndpoint()
		await tenant.remit.companies.create({ name: 'after' })
		expect((await sink.events(1)).map(({ data }) => (data as { name: string }).name)).toEqual(['after'])
		expect((await tenant.ask('GET', '/webhooks/deliveries')).body.meta.total).toBe(1)
	})
})

describe('the list of endpoints', () => {
	it('is paged, newest first, by status if asked, and of one organization', async () => {
		const ids: string[] = []
		for (let count = 0; count < 3; count++) {
			server.clock.now += 1000
			ids.unshift((await newEndpoint()).id)
		}
		const [newest, middle, oldest] = ids as [string, string, string]
		await endpoints.patch(tenant, middle, { status: 'paused' })
		expect(await endpoints.ids(tenant)).toEqual([newest, middle, oldest])
		expect(await endpoints.ids(tenant, { limit: '1', offset: '1' })).toEqual([middle])
		expect(await endpoints.ids(tenant, { status: 'active' })).toEqual([newest, oldest])
		expect(await endpoints.ids(tenant, { status: 'paused' })).toEqual([middle])
		expect(await endpoints.ids(tenant, { status: 'disabled' })).toEqual([])
		const iterated: string[] = []
		for await (const { id } of tenant.remit.webhooks.endpoints.list({ limit: 2 })) iterated.push(id)
		expect(iterated).toEqual(ids)
		expect(await endpoints.ids(await server.newTenant())).toEqual([])
	})
})

describe('a change of an endpoint', () => {
	it('touches the fields that it names and no others', async () => {
		const { id } = await newEndpoint({ description: 'Books' })
		let expected = await endpoints.read(tenant, id)
		for (const change of [
			{ url: `${sink.url}/other` },
			{ eventTypes: ['invoice.*', 'deal.stage_changed'] },
			{ description: 'Ledger' },
			{ description: null },
			{ status: 'paused' },
			{ status: 'active' },
		]) {
			server.clock.now += 1000
			expected = { ...expected, ...change, updatedAt: server.clock.now, version: expected.version + 1 }
			expect(await endpoints.changed(tenant, id, change)).toEqual(expected)
		}
	})

	it('takes effect with the next event: another address, other types', async () => {
		const { id } = await newEndpoint()
		await endpoints.patch(tenant, id, { url: `${sink.url}/other`, eventTypes: ['invoice.created'] })
		await tenant.remit.companies.create({ name: 'not asked for' })
		await tenant.remit.invoices.create({})
		await sink.events(1)
		expect(sink.received.map(({ path, event }) => `${path} ${event.type}`)).toEqual(['/hook/other invoice.created'])
		expect((await tenant.ask('GET', '/webhooks/deliveries')).body.meta.total).toBe(1)
	})

	it('heeds the version that it expects, and reading heeds the one that is known', async () => {
		const { id } = await newEndpoint()
		const at = endpoints.at(id)
		const change = (version: string) =>
			tenant.ask('PATCH', at, { body: { description: version }, headers: { 'if-match': version } })
		const changed = await change('"1"')
		expect({ status: changed.status, etag: changed.headers.get('etag') }).toEqual({ status: 200, etag: '"2"' })
		expect(await change('"1"')).toMatchObject({ status: 412, body: { code: 'version_mismatch' } })
		const read = (version: string) => tenant.ask('GET', at, { headers: { 'if-none-match': version } })
		expect((await read('"2"')).status).toBe(304)
		expect(await read('"1"')).toMatchObject({ status: 200, body: { data: { description: '"1"' } } })
		const remove = (version: string) => tenant.ask('DELETE', at, { headers: { 'if-match': version } })
		expect((await remove('"1"')).status).toBe(412)
		expect((await remove('"2"')).status).toBe(200)
	})
})

describe('a deleted endpoint', () => {
	it('is not found, and keeps no secret in the database', async () => {
		const { id } = await newEndpoint()
		await act(id, 'rotate-secret', {})
		expect(await stored(id)).toMatchObject({ secret: expect.stringMatching(/./), previousSecret: expect.stringMatching(/./) })
		expect(await endpoints.remove(tenant, id)).toMatchObject({ status: 200, body: { ok: true } })
		expect(await stored(id)).toMatchObject({ secret: '', previousSecret: null, previousSecretExpiresAt: null })
		const answers = [
			await endpoints.get(tenant, id),
			await endpoints.patch(tenant, id, { status: 'active' }),
			await endpoints.remove(tenant, id),
			await act(id, 'rotate-secret', {}),
			await act(id, 'test'),
			await act(id, 'redeliver', {}),
		]
		for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { code: 'webhook_endpoint_not_found' } })
		expect(await endpoints.ids(tenant)).toEqual([])
	})

	it('leaves its deliveries to be read; those that waited are cancelled, and it gets no new ones', async () => {
		const { id } = await newEndpoint()
		const company = await tenant.remit.companies.create({ name: 'a' })
		await sink.events(1)
		sink.answer = { status: 500 }
		for (const name of ['b', 'c']) {
			server.clock.now += 1000
			await tenant.remit.companies.update(company.id, { name })
		}
		const list = async () =>
			(await tenant.ask('GET', `/webhooks/deliveries?endpointId=${id}`)).body.data as { id: string; status: string }[]
		await expect
			.poll(async () => (await list()).map(({ status }) => status), { timeout: 10_000 })
			.toEqual(['pending', 'retrying', 'succeeded'])
		await endpoints.remove(tenant, id)
		await tenant.remit.companies.update(company.id, { name: 'd' })
		const left = await list()
		expect(left.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'succeeded'])
		const details = await tenant.remit.webhooks.deliveries.get(left[1]?.id ?? '')
		expect(details).toMatchObject({ nextAttemptAt: null, attemptCount: 1, attempts: [{ responseStatus: 500 }] })
		server.clock.now += 3_600_000
		await newEndpoint({ eventTypes: ['invoice.created'] })
		await tenant.remit.invoices.create({})
		await sink.events(3)
		expect(sink.received.map(({ event }) => event.type)).toEqual(['company.created', 'company.updated', 'invoice.created'])
	})
})

describe('a rotated secret', () => {
	/** The secrets that signed a request. */
	const signers = ({ headers, body }: Received, secrets: readonly string[]) =>
		secrets.filter((secret) => {
			const hmac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
			const signature = hmac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64')
			return headers['webhook-signature']?.split(' ').includes(`v1,${signature}`)
		})
	const rotate = async (id: string, body?: object) => {
		const answer = await act(id, 'rotate-secret', body)
		expect(answer.status).toBe(200)
		sink.secrets.push(answer.body.secret)
		return answer.body as { secret: string; previousSecretExpiresAt: number | null }
	}
	const nextRequest = async (id: string): Promise<Received> => {
		const count = sink.received.length
		await act(id, 'test')
		await sink.events(count + 1)
		return sink.received[count] as Received
	}

	it('signs together with the old one during the grace, and alone after it', async () => {
		const { id, secret: old } = await newEndpoint()
		const { secret, previousSecretExpiresAt } = await rotate(id, { graceSeconds: 60 })
		expect(secret).toMatch(secretPattern)
		expect(secret).not.toBe(old)
		expect(previousSecretExpiresAt).toBe(server.clock.now + 60_000)
		expect(await endpoints.read(tenant, id)).toMatchObject({ secretHint: secret.slice(-5), previousSecretExpiresAt, version: 2 })
		server.clock.now += 59_999
		expect(signers(await nextRequest(id), [old, secret])).toEqual([old, secret])
		server.clock.now += 1
		expect(signers(await nextRequest(id), [old, secret])).toEqual([secret])
	})

	it('has a grace of a day unless told otherwise, or none', async () => {
		const { id, secret: old } = await newEndpoint()
		expect((await rotate(id)).previousSecretExpiresAt).toBe(server.clock.now + 86_400_000)
		const { secret, previousSecretExpiresAt } = await rotate(id, { graceSeconds: 0 })
		expect(previousSecretExpiresAt).toBeNull()
		expect(signers(await nextRequest(id), [old, secret])).toEqual([secret])
		expect(await stored(id)).toMatchObject({ previousSecret: null })
	})
})

describe('a test of an endpoint', () => {
	it('goes to that endpoint alone, whatever it subscribes to, and answers the delivery', async () => {
		const { id } = await newEndpoint({ eventTypes: ['invoice.paid'] })
		await newEndpoint({ eventTypes: ['*'], url: `${sink.url}/other` })
		const { status, body } = await act(id, 'test')
		expect(status).toBe(200)
		const [event] = await sink.events(1)
		expect(event).toMatchObject({ type: 'webhook.test', resource: { type: 'webhook_endpoint', id } })
		expect(event?.data).toEqual(await endpoints.read(tenant, id))
		await expect
			.poll(() => tenant.remit.webhooks.deliveries.get(body.id))
			.toMatchObject({
				endpointId: id,
				eventId: event?.id,
				status: 'succeeded',
				attempts: [{ responseStatus: 204, responseBody: '', error: null }],
			})
		expect((await tenant.ask('GET', '/webhooks/deliveries')).body.meta.total).toBe(1)
		expect(sink.received.map(({ path }) => path)).toEqual(['/hook'])
	})

	it('is refused while the endpoint is paused', async () => {
		const { id } = await newEndpoint()
		await endpoints.patch(tenant, id, { status: 'paused' })
		expect(await act(id, 'test')).toMatchObject({ status: 409, body: { code: 'webhook_endpoint_not_active' } })
		expect((await tenant.ask('GET', '/webhooks/deliveries')).body.meta.total).toBe(0)
	})
})
