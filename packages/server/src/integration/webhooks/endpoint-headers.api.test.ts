// The headers that an endpoint wants in its requests: they arrive, and no answer shows their values.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startSubscriber } from '../../../test/deliveries.ts'
import { startTestServer, type TestServer } from '../../../test/harness.ts'
import { query } from '../../platform/db/database.ts'

const secret = 'Bearer s3cr3t-of-the-gateway'

let server: TestServer
let org: Awaited<ReturnType<typeof startSubscriber>>
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	org = await startSubscriber(server)
	return () => org.stop()
})
afterAll(() => server.close())

const endpoints = () => org.tenant.remit.webhooks.endpoints
async function newEndpoint(headers: { name: string; value: string }[]): Promise<string> {
	const { id, secret: key } = await endpoints().create({ url: org.sink.url, eventTypes: ['*'], headers })
	org.sink.secrets.push(key)
	return id
}
const authorization = { name: 'Authorization', value: secret }
const namesOf = async (id: string) => (await endpoints().get(id)).headerNames

const stored = query<{ id: string }, { headers: string | null }>((knex, { id }) =>
	knex('webhook_endpoints').where({ id }).select('headers'),
)

describe('the headers of an endpoint', () => {
	it('are in every request, and their values nowhere else', async () => {
		const id = await newEndpoint([authorization, { name: 'X-Region', value: 'eu' }])
		await org.change('a')
		await endpoints().test(id)
		await org.settle('succeeded', 'succeeded')
		for (const { headers } of org.sink.received) expect(headers).toMatchObject({ authorization: secret, 'x-region': 'eu' })
		const delivery = await org.read((await org.newest()).id)
		expect(delivery.request?.headers).toMatchObject({ authorization: '(hidden)', 'x-region': '(hidden)' })
		expect(await namesOf(id)).toEqual(['Authorization', 'X-Region'])
		for (const path of [`/webhooks/endpoints/${id}`, '/webhooks/endpoints', '/webhooks/events', '/api/audit']) {
			const answer = await org.tenant.ask('GET', path)
			expect([path, answer.status]).toEqual([path, 200])
			expect(JSON.stringify(answer.body)).not.toContain('s3cr3t')
		}
		for (const { body } of org.sink.received) expect(body).not.toContain('s3cr3t')
		const row = await server.db.get(stored, { id })
		expect(row?.headers).toEqual(expect.any(String))
		expect(row?.headers).not.toContain('s3cr3t')
		await endpoints().delete(id)
		expect((await server.db.get(stored, { id }))?.headers).toBeNull()
	})

	it('are replaced as a whole, stay when nothing is said of them, and go with an empty list', async () => {
		const id = await newEndpoint([authorization])
		await endpoints().update(id, { description: 'x' })
		await endpoints().update(id, { url: `${org.sink.url}/again` })
		expect(await namesOf(id)).toEqual(['Authorization'])
		await endpoints().update(id, { headers: [{ name: 'X-Region', value: 'us' }] })
		await org.change('a')
		await org.settle('succeeded')
		expect(org.sink.received[0]?.headers['x-region']).toBe('us')
		expect(org.sink.received[0]?.headers).not.toHaveProperty('authorization')
		await endpoints().update(id, { headers: [] })
		expect(await namesOf(id)).toEqual([])
		await org.change('b')
		await org.settle('succeeded', 'succeeded')
		expect(org.sink.received[1]?.headers).not.toHaveProperty('x-region')
	})

	it('do not go to another host, unless they are given with it', async () => {
		const id = await newEndpoint([authorization])
		await endpoints().update(id, { url: 'https://receiver.example/hook' })
		expect(await namesOf(id)).toEqual([])
		await endpoints().update(id, { url: org.sink.url, headers: [authorization] })
		expect(await namesOf(id)).toEqual(['Authorization'])
	})
})

describe('a header', () => {
	it.each([
		[[{ name: 'Host', value: 'a' }], '/headers/0/name'],
		[[authorization, { name: 'webhook-id', value: 'a' }], '/headers/1/name'],
		[[{ name: 'Content-Type', value: 'a' }], '/headers/0/name'],
		[[{ name: 'a b', value: 'a' }], '/headers/0/name'],
		[[{ name: 'X-A', value: 'a\r\nX-B: b' }], '/headers/0/value'],
		[[authorization, { name: 'AUTHORIZATION', value: 'b' }], '/headers/1/name'],
		[Array.from({ length: 11 }, (_, index) => ({ name: `X-${index}`, value: 'a' })), '/headers'],
	])('is refused: %j', async (headers, pointer) => {
		const id = await newEndpoint([])
		const body = { url: org.sink.url, eventTypes: ['*'], headers }
		const refused = { status: 400, body: { code: 'invalid_request', errors: [{ pointer }] } }
		expect(await org.tenant.ask('POST', '/webhooks/endpoints', { body })).toMatchObject(refused)
		expect(await org.tenant.ask('PATCH', `/webhooks/endpoints/${id}`, { body: { headers } })).toMatchObject(refused)
	})
})
