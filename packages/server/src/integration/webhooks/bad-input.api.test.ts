// The requests that the webhooks API rejects, each with its documented answer, and the scopes that its operations need.
// (Invalid keys and rate limits are tested in src/auth.)
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, startTestServer, type TestServer } from '../../../test/harness.ts'
import { invalid, recordsAt, refused } from '../../../test/records.ts'

let server: TestServer
beforeAll(async () => {
	server = await startTestServer()
})
afterAll(() => server.close())

const endpoints = recordsAt('/webhooks/endpoints')
const good = { url: 'https://acme.example/hook', eventTypes: ['*'] }
const refusedQuery = (parameter: string) => ({
	status: 400,
	body: { code: 'invalid_request', errors: [expect.objectContaining({ parameter })] },
})
/** Expects the fields to be rejected on create and on update, and the stored endpoint to stay as it is. */
async function expectBothRefused(body: object, expected: object): Promise<void> {
	const id = await endpointId()
	const before = await endpoints.read(server, id)
	const count = (await endpoints.ids(server, { limit: '100' })).length
	expect(await endpoints.post(server, { ...good, ...body })).toMatchObject(expected)
	expect(await endpoints.patch(server, id, body)).toMatchObject(expected)
	expect(await endpoints.read(server, id)).toEqual(before)
	expect(await endpoints.ids(server, { limit: '100' })).toHaveLength(count)
}
let known: string | undefined
async function endpointId(): Promise<string> {
	known ??= (await endpoints.post(server, good)).body.id as string
	return known
}

describe('the URL of an endpoint', () => {
	it.each([
		'',
		'acme.example/hook',
		'//acme.example/hook',
		'ftp://acme.example/hook',
		'file:///etc/passwd',
		'javascript:alert(1)',
		'http:/acme.example',
		'http://',
		'https://user:password@acme.example/hook',
		'https://user@acme.example/hook',
		'https://acme.example/hook#fragment',
		'https://acme.example/a b',
		' https://acme.example/hook',
		'https://acme.example\\@evil.example/',
		'https://acme.example:99999/',
		'https://[::1/',
		'https://acme.example/\nx',
	])('%s is refused as none that webhooks can go to', async (url) => {
		await expectBothRefused({ url }, invalid('/url'))
	})

	it.each([null, 7, ['https://acme.example'], {}])('%j is refused as no text', async (url) => {
		await expectBothRefused({ url }, invalid('/url'))
	})

	it.each([
		'https://private.example/hook',
		'http://10.0.0.7/',
		'http://169.254.169.254/latest/meta-data/',
		'http://192.168.1.1:8080/',
		'http://[::1]/',
		'http://[fd00::1]/',
		'http://[::ffff:10.0.0.1]/',
		'http://0x0a000001/',
		'http://167772161/',
		'http://0.0.0.0/',
	])('%s is refused as not public, in words that name the setting and no address', async (url) => {
		await expectBothRefused({ url }, refused(422, 'unsafe_url', '/url'))
		const { detail } = (await endpoints.post(server, { ...good, url })).body
		expect(detail).toContain('EGRESS_ALLOW_CIDRS')
		if (url.includes('private.example')) expect(detail).not.toContain('10.0.0.7')
	})

	it('is refused when its host has no address', async () => {
		await expectBothRefused({ url: 'https://acme.invalid/hook' }, refused(422, 'unresolvable_url', '/url'))
	})

	it('may be as long as 2,048 characters', async () => {
		const url = `https://acme.example/${'x'.repeat(2048 - 21)}`
		const created = await endpoints.post(server, { ...good, url })
		expect(await endpoints.read(server, created.body.id)).toMatchObject({ url })
		for (const tooLong of [`${url}x`, url.padEnd(3000, 'x')]) await expectBothRefused({ url: tooLong }, invalid('/url'))
	})
})

describe('the event types of an endpoint', () => {
	it.each([
		['an empty list', [], '/eventTypes'],
		['no list', 'invoice.paid', '/eventTypes'],
		['null', null, '/eventTypes'],
		['more than 100', Array(101).fill('*'), '/eventTypes'],
		['an unknown type', ['invoice.paid', 'invoice.exploded'], '/eventTypes/1'],
		['an unknown kind', ['unicorn.*'], '/eventTypes/0'],
		['half a type', ['invoice'], '/eventTypes/0'],
		['half a pattern', ['inv*'], '/eventTypes/0'],
		['a pattern at the wrong end', ['*.created'], '/eventTypes/0'],
		['a pattern of a type', ['invoice.paid.*'], '/eventTypes/0'],
		['other capitals', ['Invoice.Paid'], '/eventTypes/0'],
		['an empty one', [''], '/eventTypes/0'],
		['a number', [7], '/eventTypes/0'],
	])('are refused when they are %s', async (_, eventTypes, pointer) => {
		await expectBothRefused({ eventTypes }, invalid(pointer))
	})

	it('may overlap: an event is delivered once all the same', async () => {
		const tenant = await server.newTenant()
		const eventTypes = ['*', 'company.*', 'company.created', 'company.created']
		const { id } = (await endpoints.post(tenant, { url: 'http://127.0.0.1:9/', eventTypes })).body
		await tenant.remit.companies.create({ name: 'a' })
		expect((await tenant.ask('GET', `/webhooks/deliveries?endpointId=${id}`)).body.meta.total).toBe(1)
	})
})

describe('what else an endpoint is sent with', () => {
	it('is refused by field', async () => {
		const id = await endpointId()
		expect(await endpoints.post(server, { eventTypes: ['*'] })).toMatchObject(invalid('/url'))
		expect(await endpoints.post(server, { url: good.url })).toMatchObject(invalid('/eventTypes'))
		for (const [field, value] of [
			['status', 'disabled'],
			['status', 'gone'],
			['status', null],
			['description', 'two\nlines'],
			['description', 7],
			['secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
			['organizationId', 'org_other'],
			['failingSince', null],
		] as const)
			expect(await endpoints.patch(server, id, { [field]: value })).toMatchObject(invalid(`/${field}`))
		expect(await endpoints.post(server, { ...good, status: 'paused' })).toMatchObject(invalid('/status'))
	})

	it('of a rotation is a grace of whole seconds, 30 days at most', async () => {
		const at = `${endpoints.at(await endpointId())}/rotate-secret`
		for (const graceSeconds of [-1, 2_592_001, 1.5, '60', null])
			expect(await server.ask('POST', at, { body: { graceSeconds } })).toMatchObject(invalid('/graceSeconds'))
	})

	it('of a redelivery is a time', async () => {
		const at = `${endpoints.at(await endpointId())}/redeliver`
		for (const since of ['yesterday', -1, '2026-02-30T00:00:00Z', null, {}])
			expect(await server.ask('POST', at, { body: { since } })).toMatchObject(invalid('/since'))
	})
})

describe('a list', () => {
	it.each([
		['/webhooks/endpoints', 'status', 'unknown'],
		['/webhooks/endpoints', 'colour', 'red'],
		['/webhooks/endpoints', 'limit', '0'],
		['/webhooks/endpoints', 'limit', '101'],
		['/webhooks/deliveries', 'status', 'lost'],
		['/webhooks/deliveries', 'status', ''],
		['/webhooks/deliveries', 'cursor', 'evt_1'],
		['/webhooks/deliveries', 'cursor', "whd_'"],
		['/webhooks/deliveries', 'cursor', `whd_${'a'.repeat(64)}`],
		['/webhooks/deliveries', 'endpointId', 'x'.repeat(300)],
		['/webhooks/deliveries', 'offset', '-1'],
		['/webhooks/deliveries', 'type', 'invoice.exploded'],
		['/webhooks/deliveries', 'resourceType', 'planet'],
		['/webhooks/deliveries', 'resourceId', 'x'.repeat(300)],
		['/webhooks/deliveries', 'since', 'soon'],
		['/webhooks/events', 'type', 'invoice.exploded'],
		['/webhooks/events', 'type', 'inv*'],
		['/webhooks/events', 'resourceType', 'planet'],
		['/webhooks/events', 'since', '-1'],
		['/webhooks/events', 'order', 'up'],
		['/webhooks/events', 'cursor', 'whd_1'],
		['/webhooks/events', 'cursor', '-1'],
		['/webhooks/events', 'cursor', '1e3'],
		['/webhooks/events', 'cursor', '9'.repeat(16)],
		['/webhooks/events', 'eventId', 'evt_1'],
		['/webhooks/event-types', 'limit', 'all'],
		['/webhooks/event-types', 'type', 'invoice.paid'],
	])('%s is refused with %s=%s', async (path, parameter, value) => {
		const answer = await server.ask('GET', `${path}?${new URLSearchParams({ [parameter]: value })}`)
		expect(answer).toMatchObject(refusedQuery(parameter))
	})

	it('takes a cursor that no page gave, and ends there', async () => {
		const far = await server.ask('GET', `/webhooks/events?cursor=${'9'.repeat(15)}`)
		expect(far).toMatchObject({ status: 200, body: { data: [], meta: { nextCursor: '9'.repeat(15) } } })
		expect(await server.ask('GET', '/webhooks/deliveries?cursor=whd_0')).toMatchObject(refusedQuery('cursor'))
	})
})

describe('an id that there is not', () => {
	it('is not found, nor is one of another organization', async () => {
		const id = await endpointId()
		const stranger = await server.newTenant()
		const requests = (at: string): Promise<Answer>[] => [
			stranger.ask('GET', at),
			stranger.ask('PATCH', at, { body: { status: 'paused' } }),
			stranger.ask('POST', `${at}/test`),
			stranger.ask('POST', `${at}/redeliver`),
			stranger.ask('POST', `${at}/rotate-secret`),
			stranger.ask('DELETE', at),
		]
		for (const at of [endpoints.at(id), endpoints.at('whe_unknown')])
			for (const answer of await Promise.all(requests(at)))
				expect(answer).toMatchObject({ status: 404, body: { code: 'webhook_endpoint_not_found' } })
		expect(await endpoints.read(server, id)).toMatchObject({ status: 'active' })
		const unknown = await stranger.ask('POST', '/webhooks/deliveries/whd_unknown/redeliver')
		expect(unknown).toMatchObject({ status: 404, body: { code: 'webhook_delivery_not_found' } })
	})
})

describe('the scopes of webhooks', () => {
	it('are read to look, write to make and change, admin to delete and to rotate secrets', async () => {
		const id = await endpointId()
		const at = endpoints.at(id)
		const requests: [scope: string, method: string, path: string, body?: object][] = [
			['read', 'GET', '/webhooks/endpoints'],
			['read', 'GET', at],
			['read', 'GET', '/webhooks/event-types'],
			['read', 'GET', '/webhooks/events'],
			['read', 'GET', '/webhooks/deliveries'],
			['write', 'POST', '/webhooks/endpoints', good],
			['write', 'PATCH', at, { description: 'x' }],
			['write', 'POST', `${at}/test`],
			['write', 'POST', `${at}/redeliver`],
			['write', 'POST', '/webhooks/deliveries/whd_unknown/redeliver'],
			['admin', 'POST', `${at}/rotate-secret`],
			['admin', 'DELETE', at],
		]
		const ranks = ['read', 'write', 'admin'] as const
		for (const [rank, scope] of ranks.entries()) {
			const { key } = await server.newKey([scope])
			for (const [needed, method, path, sent] of requests) {
				const { status, body: answer } = await server.ask(method, path, { key, ...(sent && { body: sent }) })
				const refusedByScope = status === 403 && answer.code === 'insufficient_scope'
				expect({ scope, method, path, refusedByScope }).toEqual({
					scope,
					method,
					path,
					refusedByScope: ranks.indexOf(needed as 'read') > rank,
				})
			}
		}
	})
})
