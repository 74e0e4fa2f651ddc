import type { ConnectionCreate } from '@remit/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { query } from '../../platform/db/database.ts'

const apiKey = secret('of-acme')

let provider: FakeProvider
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	provider = await new FakeProvider().start()
	server = await startTestServer({ PROVIDER_HUBSPOT_BASE_URL: provider.url, PROVIDER_STRIPE_BASE_URL: `${provider.url}/stripe` })
})
beforeEach(async () => {
	tenant = await server.newTenant()
	provider.answers({})
	provider.requests.length = 0
})
afterAll(async () => {
	await server.close()
	await provider.stop()
})

const input = (change: Partial<ConnectionCreate> = {}): ConnectionCreate => ({
	...{ provider: 'http_json', name: 'Acme', authType: 'api_key', credentials: { apiKey } },
	config: { baseUrl: `${provider.url}/v2`, testPath: '/me?fields=id' },
	...change,
})
const create = async (change?: Partial<ConnectionCreate>) => (await tenant.remit.connections.create(input(change))).id
const read = async (id: string) => tenant.remit.connections.get(id)
const test = async (id: string) => tenant.remit.connections.test(id)
const typesOf = async (id: string) => (await eventsOf(server, tenant, id)).map(({ type }) => type.replace('connection.', ''))
const refusal = async (body: object, id?: string) => {
	const answer = await tenant.ask(id ? 'PATCH' : 'POST', id ? `/connections/${id}` : '/connections', { body })
	return [answer.status, answer.body.code, answer.body.errors?.[0].pointer]
}

it('the providers are listed with how one connects to them and with their objects', async () => {
	const { data, meta } = await tenant.remit.connections.providers.list()
	expect(data.map(({ id, authTypes, objects }) => [id, authTypes, objects.map(({ name }) => name)])).toEqual([
		['hubspot', ['oauth2', 'api_key'], ['companies']],
		['xero', ['oauth2', 'client_credentials'], ['contacts', 'invoices']],
		['stripe', ['api_key'], ['customers', 'invoices']],
		['http_json', ['api_key', 'basic', 'client_credentials'], []],
	])
	expect(meta.total).toBe(4)
	const page = await tenant.remit.connections.providers.list({ limit: 1, offset: 2 })
	expect(page.data.map(({ id }) => id)).toEqual(['stripe'])
})

it('a connection is created, read, listed, changed and deleted', async () => {
	const id = await create()
	const created = await read(id)
	expect(created).toMatchObject({
		...{ provider: 'http_json', name: 'Acme', authType: 'api_key', status: 'pending', statusReason: null, account: null },
		...{ config: input().config, grantedScopes: [], credentialHint: '6789', lastSuccessAt: null, lastError: null, version: 1 },
	})
	await create({ provider: 'stripe', config: {} })
	const names = async (filter: object) => (await tenant.remit.connections.list(filter)).data.map(({ provider }) => provider)
	expect(await names({ provider: 'stripe' })).toEqual(['stripe'])
	expect(await names({ status: 'active' })).toEqual([])
	expect((await names({})).toSorted()).toEqual(['http_json', 'stripe'])
	await tenant.remit.connections.update(id, { name: 'Acme, EU' })
	expect(await read(id)).toEqual({ ...created, name: 'Acme, EU', version: 2 })
	await tenant.remit.connections.delete(id)
	expect((await tenant.ask('GET', `/connections/${id}`)).status).toBe(404)
	expect(await typesOf(id)).toEqual(['created', 'updated', 'deleted'])
	const { data } = await tenant.remit.connections.history(id)
	expect(data.map(({ action }) => action)).toEqual(['deleted', 'updated', 'created'])
})

it.each([
	['ada@acme.example', 'ada@acme.example'],
	['sk_live_8fKq2LwXc4Rk6NdB1sZp', '1sZp'],
	['sk_live_8fKq2LwXc4@Rk6NdB1sZp', '1sZp'],
	['ada', null],
])('the user name %s, which may be a key, has the hint %s', async (username, hint) => {
	const id = await create({ authType: 'basic', credentials: { username, password: secret('x') } })
	const audited = JSON.stringify([await eventsOf(server, tenant, id), await tenant.remit.connections.history(id)])
	expect([(await read(id)).credentialHint, audited.includes(username)]).toEqual([hint, username === hint])
})

describe('a test', () => {
	it('sends the key to where the connection says, and makes it active', async () => {
		provider.answers([])
		const id = await create()
		expect(await test(id)).toMatchObject({ status: 'active', lastSuccessAt: server.clock.now, lastError: null, account: null })
		const [request] = provider.requests
		expect([request?.method, request?.url, request?.headers.authorization]).toEqual([
			'GET',
			'/v2/me?fields=id',
			`Bearer ${apiKey}`,
		])
		expect(await typesOf(id)).toEqual(['created', 'activated'])
		await test(id)
		expect(await typesOf(id)).toEqual(['created', 'activated'])
	})

	it('sends the key in the header that is set, or a user and a password', async () => {
		await test(await create({ config: { baseUrl: provider.url, apiKeyHeader: 'X-Api-Key' } }))
		expect(provider.requests[0]?.headers).toMatchObject({ 'x-api-key': apiKey })
		expect(provider.requests[0]?.headers.authorization).toBeUndefined()
		const basic = await create({ authType: 'basic', credentials: { username: 'ada', password: 'pä:ss' } })
		expect((await test(basic)).status).toBe('active')
		expect(provider.requests[1]?.headers.authorization).toBe(`Basic ${Buffer.from('ada:pä:ss').toString('base64')}`)
	})

	it('makes the cheapest call of a provider and names the account', async () => {
		provider.answers({ portalId: 62515, uiDomain: 'app-eu1.hubspot.com' })
		const hubspot = await create({ provider: 'hubspot', config: {} })
		expect((await test(hubspot)).account).toEqual({ externalId: '62515', displayName: 'app-eu1.hubspot.com' })
		provider.answers({ id: 'acct_1', settings: { dashboard: { display_name: 'Acme\u0000\n' } } })
		const stripe = await create({ provider: 'stripe', config: {} })
		expect((await test(stripe)).account).toEqual({ externalId: 'acct_1', displayName: 'Acme  ' })
		expect(provider.requests.map(({ url }) => url)).toEqual(['/account-info/2026-03/details', '/stripe/v1/account'])
	})

	it.each([
		[401, 'unauthorized', 'failed', 'needs_reauth'],
		[403, 'forbidden', 'failed', 'degraded'],
		[429, 'rate_limited', 'failed', 'degraded'],
		[503, 'provider_failed', 'failed', 'degraded'],
		[404, 'rejected', 'failed', 'degraded'],
		[302, 'invalid_answer', 'failed', 'degraded'],
	])('that is answered %s has the error %s: a new connection is %s, one that worked %s', async (status, code, first, later) => {
		const id = await create()
		provider.answers(status)
		expect(await test(id)).toMatchObject({ status: first, lastError: { code, at: server.clock.now }, lastSuccessAt: null })
		provider.answers({})
		await test(id)
		provider.answers(status)
		const failed = await test(id)
		expect(failed).toMatchObject({ status: later, lastError: { code }, lastSuccessAt: server.clock.now })
		expect(failed.statusReason).toContain(String(status))
		provider.answers({})
		expect(await test(id)).toMatchObject({ status: 'active', statusReason: null, lastError: null })
		expect(await typesOf(id)).toEqual(['created', 'updated', 'activated', later, 'recovered'])
	})

	it('tells what is not JSON, and that nobody listens', async () => {
		const id = await create()
		provider.answer = (_, res) => res.setHeader('content-type', 'text/html').end('<html>')
		expect((await test(id)).lastError).toMatchObject({ code: 'invalid_answer', detail: expect.stringContaining('HTML') })
		const nobody = await create({ config: { baseUrl: 'http://127.0.0.1:1' } })
		expect((await test(nobody)).lastError?.code).toBe('unreachable')
	})

	it('is not made of a disabled connection, which is as before once it is active again', async () => {
		const id = await create()
		await test(id)
		await tenant.remit.connections.update(id, { status: 'disabled' })
		expect(await read(id)).toMatchObject({ status: 'disabled', statusReason: 'A caller disabled it.' })
		const refused = await tenant.ask('POST', `/connections/${id}/test`)
		expect([refused.status, refused.body.code]).toEqual([409, 'connection_disabled'])
		await tenant.remit.connections.update(id, { status: 'active' })
		expect(await read(id)).toMatchObject({ status: 'active', statusReason: null })
		expect(await typesOf(id)).toEqual(['created', 'activated', 'updated', 'activated'])
	})

	it('of credentials that were replaced meanwhile says nothing of the new ones', async () => {
		const id = await create()
		provider.answer = async (_, res) => {
			await tenant.remit.connections.update(id, { credentials: { apiKey: `${secret('another')}-acme` } })
			res.writeHead(401).end()
		}
		expect(await test(id)).toMatchObject({ status: 'pending', lastError: null, credentialHint: 'acme' })
	})

	it('is made once for an Idempotency-Key', async () => {
		const id = await create()
		for (const _ of [1, 2]) await tenant.remit.connections.test(id, { idempotencyKey: 'once' })
		expect(provider.requests).toHaveLength(1)
	})
})

describe('a connection is refused', () => {
	it('when provider, authType, credentials and config do not fit', async () => {
		expect(await refusal(input({ provider: 'nobody' }))).toEqual([422, 'unknown_provider', '/provider'])
		const invalid = async (change: Partial<ConnectionCreate>) => {
			const [status, code, pointer] = await refusal(input(change))
			expect([status, code]).toEqual([422, 'invalid_connection'])
			return pointer
		}
		expect(await invalid({ provider: 'stripe', authType: 'basic' })).toBe('/authType')
		expect(await invalid({ credentials: { username: 'ada' } })).toBe('/credentials/apiKey')
		expect(await invalid({ credentials: { apiKey, username: 'ada' } })).toBe('/credentials/username')
		expect(await invalid({ config: {} })).toBe('/config/baseUrl')
		expect(await invalid({ provider: 'stripe' })).toBe('/config/baseUrl')
		expect(await invalid({ config: { baseUrl: 'https://api.example/?key=1' } })).toBe('/config/baseUrl')
		const client = { authType: 'client_credentials', credentials: { clientId: 'a', clientSecret: secret('b') } } as const
		const baseUrl = 'https://api.example'
		const tokenUrl = 'https://api.example/token'
		for (const name of ['grant_type', 'client_id', 'client_secret', 'scope'])
			expect(await invalid({ ...client, config: { baseUrl, tokenUrl, tokenParameters: { [name]: 'x' } } })).toBe(
				`/config/tokenParameters/${name}`,
			)
		expect(await invalid({ config: { baseUrl, clientAuthentication: 'body' } })).toBe('/config/clientAuthentication')
		expect(await invalid({ config: { baseUrl, tokenParameters: { audience: 'x' } } })).toBe('/config/tokenParameters')
		const basic = { authType: 'basic', credentials: { username: 'a', password: secret('b') } } as const
		expect(await invalid({ ...basic, config: { baseUrl: 'https://api.example', apiKeyHeader: 'X-Key' } })).toBe(
			'/config/apiKeyHeader',
		)
	})

	it.each([
		'/..',
		'/../admin',
		'/a/../../b',
		'/.',
		'/%2e%2e/a',
		'/.%2E/a',
		'/a\\..\\..\\b',
		'/..%2fadmin',
		'/a%5c..%5cb',
		'/..?a',
	])('when the path %s leads out of its base URL', async (path) => {
		const baseUrl = `${provider.url}/v2`
		expect(await refusal(input({ config: { baseUrl, testPath: path } }))).toEqual([422, 'invalid_connection', '/config/testPath'])
		const object = { name: 'a', path: '/a', idField: 'id', pagination: { style: 'none' as const } }
		const paths = {
			path: { path },
			readPath: { readPath: `${path.replace(/\?.*/, '')}/{id}` },
			'create/path': { create: { method: 'POST' as const, path } },
		}
		for (const [pointer, change] of Object.entries(paths))
			expect(await refusal(input({ config: { baseUrl, objects: [{ ...object, ...change }] } }))).toEqual([
				...[422, 'invalid_connection', `/config/objects/0/${pointer}`],
			])
	})

	it.each(['https://evil.example/', 'evil.example', '@evil.example'])('when the path is %s', async (testPath) => {
		expect((await refusal(input({ config: { baseUrl: provider.url, testPath } }))).slice(0, 1)).toEqual([400])
	})

	it.each(['//evil.example/a', '/\\evil.example/a', '/a..b/...', '/@evil.example', '/a?b=/../c'])(
		'in no case for %s, which is below its base URL',
		async (testPath) => {
			await tenant.remit.connections.test(await create({ config: { baseUrl: `${provider.url}/v2`, testPath } }))
			expect(provider.requests.at(-1)?.url).toMatch(/^\/v2\//)
		},
	)

	it('when its host is not public, and the answer names the setting', async () => {
		const body = input({ config: { baseUrl: 'https://private.example' } })
		const answer = await tenant.ask('POST', '/connections', { body })
		expect([answer.status, answer.body.code]).toEqual([422, 'unsafe_url'])
		expect(answer.body.detail).toContain('EGRESS_ALLOW_CIDRS')
		expect(await refusal(input({ config: { baseUrl: 'https://nowhere.test' } }))).toEqual([
			...[422, 'unresolvable_url', '/config/baseUrl'],
		])
	})

	it('when it would take its credentials to another host', async () => {
		const id = await create()
		const config = { baseUrl: 'https://api.example' }
		expect(await refusal({ config }, id)).toEqual([422, 'invalid_connection', '/config/baseUrl'])
		await tenant.remit.connections.update(id, { config, credentials: { apiKey } })
		expect((await read(id)).config).toEqual(config)
	})
})

it('a list of the connections to no provider is an error that names the place', async () => {
	const { status, body } = await tenant.ask('GET', '/connections?provider=nope')
	expect([status, body.code, body.errors]).toMatchObject([400, 'invalid_request', [{ parameter: 'provider' }]])
	expect(await tenant.ask('GET', '/connections?provider=xero')).toMatchObject({ status: 200, body: { data: [] } })
})

it('a key without the scope admin reads connections only, and one that is limited to kinds of records not even that', async () => {
	const id = await create()
	const writer = await tenant.newKey(['read', 'write'])
	const ask = async (method: string, path: string, key: string) => (await tenant.ask(method, path, { key })).status
	expect(await ask('GET', `/connections/${id}`, writer.key)).toBe(200)
	expect(await ask('DELETE', `/connections/${id}`, writer.key)).toBe(403)
	expect(await ask('POST', `/connections/${id}/test`, writer.key)).toBe(403)
	const limited = await tenant.newKey(['read', 'admin'], { resources: ['invoice'] })
	expect(await ask('GET', `/connections/${id}`, limited.key)).toBe(403)
})

const tableRows = (table: string) => query<object>((knex) => knex(table).select('*'))

it('a secret is in no answer, event, audit entry or kept answer, and nowhere in clear', async () => {
	provider.answer = (req, res) => res.end(JSON.stringify({ echo: req.headers.authorization }))
	const id = await create()
	const headers = { 'idempotency-key': 'kept' }
	const answers = [
		await tenant.ask('POST', `/connections/${id}/test`, { headers }),
		await tenant.ask('PATCH', `/connections/${id}`, { body: { credentials: { apiKey } } }),
		await tenant.ask('PATCH', `/connections/${id}`, { body: { credentials: { apiKey, password: apiKey } } }),
		await tenant.ask('POST', '/connections', { body: { ...input(), credentials: { apiKey: [apiKey] } } }),
		await tenant.ask('GET', `/connections/${id}`),
		await tenant.ask('GET', `/connections/${id}/history`),
		await tenant.ask('GET', '/webhooks/events'),
	]
	for (const { text } of answers) expect(text).not.toContain(apiKey)
	for (const table of ['connections', 'events', 'audit_log', 'idempotency_keys']) {
		const stored = await server.db.all(tableRows(table), {})
		expect(stored.length).toBeGreaterThan(0)
		expect(JSON.stringify(stored)).not.toContain(apiKey)
	}
})
