// Connections with OAuth 2, against a real server of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { browse, client, consent, OAuthServer } from '../../../test/oauth-server.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { query } from '../../platform/db/database.ts'

let oauth: OAuthServer
let api: FakeProvider
let server: TestServer
/** On the same database. */
let other: TestServer
let tenant: Tenant
beforeAll(async () => {
	oauth = await new OAuthServer().start()
	api = await new FakeProvider().start()
	server = await startTestServer({ ...oauth.settings, PROVIDER_XERO_BASE_URL: api.url })
	other = await startTestServer(server.settings)
	oauth.serve([`${server.url}/oauth/callback`])
})
beforeEach(async () => {
	tenant = await server.newTenant()
	other.clock.now = server.clock.now
	api.answers([{ tenantId: 'ten_1', tenantName: 'Acme' }])
	api.requests.length = 0
	Object.assign(oauth, { lets: 'in', status: undefined, before: async () => {} })
	oauth.asked.length = 0
})
afterAll(async () => {
	await other.close()
	await server.close()
	await api.stop()
	await oauth.stop()
})

const create = async () => (await tenant.remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })).id
const read = (id: string) => tenant.remit.connections.get(id)
const test = (id: string) => tenant.remit.connections.test(id)
const authorize = async (id: string, returnUrl?: string) =>
	(await tenant.remit.connections.authorize(id, returnUrl === undefined ? undefined : { returnUrl })).url
const callback = () => `${server.url}/oauth/callback`
const authorized = async () => {
	const id = await create()
	expect(await consent(await browse(await authorize(id), callback()))).toMatchObject({ status: 200 })
	// One names the account.
	api.requests.length = 0
	return id
}
const typesOf = async (id: string) => (await eventsOf(server, tenant, id)).map(({ type }) => type.replace('connection.', ''))
const minutes = (count: number) => {
	server.clock.now += count * 60_000
	other.clock.now += count * 60_000
}
const tokens = () => api.requests.map(({ headers }) => headers.authorization)

describe('an authorization', () => {
	it('leads to the provider with PKCE and a state, and back: the connection is active', async () => {
		const id = await create()
		expect(await read(id)).toMatchObject({ status: 'pending', credentialHint: null, expiresAt: null })
		const url = new URL(await authorize(id))
		expect(Object.fromEntries(url.searchParams)).toMatchObject({
			...{ response_type: 'code', client_id: client.id, redirect_uri: callback(), code_challenge_method: 'S256' },
			scope: 'offline_access accounting.contacts accounting.invoices accounting.payments',
		})
		const page = await consent(await browse(url.href, callback()))
		expect([page.status, page.text]).toEqual([200, expect.stringContaining('<h1>Connected</h1>')])
		expect(await read(id)).toMatchObject({
			...{ status: 'active', lastError: null, expiresAt: server.clock.now + 1_800_000, lastRefreshedAt: null },
			grantedScopes: expect.arrayContaining(['accounting.contacts', 'accounting.invoices']),
			account: { externalId: 'ten_1', displayName: 'Acme' },
		})
		expect(await typesOf(id)).toEqual(['created', 'activated'])
		expect(await test(id)).toMatchObject({ status: 'active', account: { externalId: 'ten_1', displayName: 'Acme' } })
		expect(oauth.asked).toEqual(['authorization_code'])
	})

	it('shows the way to the returnUrl that was asked for', async () => {
		const url = await authorize(await create(), 'https://app.acme.example/settings')
		expect((await consent(await browse(url, callback()))).text).toContain('href="https://app.acme.example/settings"')
	})

	it('asks the person first, whom the account is for, and without a yes nothing is connected', async () => {
		await tenant.remit.organization.update({ name: 'Stranger & Sons' })
		const id = await create()
		const answer = await fetch(await browse(await authorize(id), callback()))
		expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('with Stranger &#38; Sons?')])
		expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
		expect(await read(id)).toMatchObject({ status: 'pending' })
		expect(oauth.asked).toEqual([])
	})

	it('has a page for a state that is wrong, used, replaced, or ten minutes old', async () => {
		const id = await create()
		expect(await consent(`${callback()}?code=x&state=wrong`)).toMatchObject({ status: 404 })
		expect(await consent(callback())).toMatchObject({ status: 404 })
		const back = await browse(await authorize(id), callback())
		expect(await consent(back)).toMatchObject({ status: 200 })
		expect(await consent(back)).toMatchObject({ status: 410, text: expect.stringContaining('was used') })
		const replaced = await browse(await authorize(id), callback())
		const late = await browse(await authorize(id), callback())
		expect(await consent(replaced)).toMatchObject({ status: 404 })
		minutes(11)
		expect(await consent(late)).toMatchObject({ status: 410, text: expect.stringContaining('too old') })
		expect(oauth.asked).toEqual(['authorization_code'])
	})

	it('works once, however many browsers come back at the same time', async () => {
		const back = await browse(await authorize(await create()), callback())
		const answers = await Promise.all(Array.from({ length: 5 }, () => consent(back)))
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410, 410])
		expect(oauth.asked).toEqual(['authorization_code'])
	})

	it('is not used up by who looks ahead', async () => {
		const back = await browse(await authorize(await create()), callback())
		await fetch(back, { headers: { 'sec-purpose': 'prefetch' } })
		await fetch(back, { method: 'HEAD' })
		expect(await consent(back)).toMatchObject({ status: 200 })
	})

	it('with the state of one connection and the code of another fails, since the code belongs to another verifier', async () => {
		const [first, second] = [await create(), await create()]
		const back = new URL(await browse(await authorize(first), callback()))
		back.searchParams.set('state', new URL(await authorize(second)).searchParams.get('state') as string)
		expect(await consent(back.href)).toMatchObject({ status: 502, text: expect.stringContaining('invalid_grant') })
		expect(await read(second)).toMatchObject({ status: 'pending', lastError: { code: 'unauthorized' } })
	})

	it('that the person denies leaves the connection pending, and says so', async () => {
		oauth.lets = 'nobody in'
		const id = await create()
		const page = await consent(await browse(await authorize(id), callback()))
		expect([page.status, page.text]).toEqual([403, expect.stringContaining('access_denied')])
		expect(await read(id)).toMatchObject({ status: 'pending', lastError: { code: 'authorization_denied' } })
	})

	it('with the answer of another issuer fails without showing the code to anybody', async () => {
		const back = new URL(await browse(await authorize(await create()), callback()))
		back.searchParams.set('iss', 'https://evil.example')
		expect(await consent(back.href)).toMatchObject({ status: 502 })
		expect(oauth.asked).toEqual([])
	})

	it('is refused to a connection that needs none, that is disabled, or for which the server has no client', async () => {
		const refusal = async (id: string) => {
			const { status, body } = await tenant.ask('POST', `/connections/${id}/authorize`)
			return [status, body.code]
		}
		const config = { baseUrl: api.url }
		const keyed = await tenant.remit.connections.create({
			...{ provider: 'http_json', name: 'Acme', authType: 'api_key', credentials: { apiKey: secret('key') }, config },
		})
		expect(await refusal(keyed.id)).toEqual([422, 'invalid_connection'])
		const id = await create()
		await tenant.remit.connections.update(id, { status: 'disabled' })
		expect(await refusal(id)).toEqual([409, 'connection_disabled'])
		const hubspot = await tenant.remit.connections.create({ provider: 'hubspot', name: 'HubSpot', authType: 'oauth2' })
		expect(await refusal(hubspot.id)).toEqual([409, 'provider_not_configured'])
		const { data } = await tenant.remit.connections.providers.list()
		expect(data.map((provider) => [provider.id, provider.configured])).toEqual([
			...[
				['hubspot', false],
				['xero', true],
				['stripe', false],
				['http_json', false],
			],
		])
	})

	it('before which a connection is tested is asked for by the error', async () => {
		expect(await test(await create())).toMatchObject({ status: 'pending', lastError: { code: 'not_authorized' } })
	})
})

describe('a token', () => {
	it('is used until a fifth of its time is left, and then replaced, with the refresh token', async () => {
		const id = await authorized()
		await test(id)
		minutes(23)
		await test(id)
		expect(oauth.asked).toEqual(['authorization_code'])
		for (const _ of [1, 2]) {
			minutes(25)
			const { status, lastRefreshedAt, expiresAt } = await test(id)
			expect(status).toBe('active')
			// The server's clock stands still, and the call takes its time.
			for (const [at, due] of [
				[lastRefreshedAt, 0],
				[expiresAt, 1_800_000],
			] as const)
				expect(Math.abs((at as number) - server.clock.now - due)).toBeLessThan(1_000)
		}
		expect(oauth.asked).toEqual(['authorization_code', 'refresh_token', 'refresh_token'])
		expect(new Set(tokens()).size).toBe(3)
		expect(await typesOf(id)).toEqual(['created', 'activated'])
	})

	it('is replaced once for 50 callers of two servers on one database', { timeout: 60_000 }, async () => {
		const id = await authorized()
		minutes(31)
		const { key } = tenant
		const ask = ({ ask }: TestServer) => ask('POST', `/connections/${id}/test`, { key })
		const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => ask(n % 2 ? server : other)))
		expect(new Set(answers.map(({ status, body }) => `${status} ${body.data.status}`))).toEqual(new Set(['200 active']))
		expect(oauth.asked).toEqual(['authorization_code', 'refresh_token'])
		expect(new Set(tokens()).size).toBe(1)
		minutes(31)
		expect((await ask(other)).body.data.status).toBe('active')
	})

	it('is used for the rest of its time while another process replaces it, and replaced once that process is dead', async () => {
		const id = await authorized()
		const leased = (refreshLeaseUntil: number) => server.db.transaction((tx) => tx.run(lease, { id, refreshLeaseUntil }))
		minutes(26)
		await leased(server.clock.now + 30_000)
		expect(await test(id)).toMatchObject({ status: 'active', lastRefreshedAt: null })
		expect(oauth.asked).toEqual(['authorization_code'])
		minutes(5)
		await leased(server.clock.now + 300)
		expect(await test(id)).toMatchObject({ status: 'active', lastRefreshedAt: expect.any(Number) })
		expect(oauth.asked).toEqual(['authorization_code', 'refresh_token'])
	})

	it('that the provider takes no more is replaced once; after that the connection needs others', async () => {
		const id = await authorized()
		await test(id)
		const [first] = tokens()
		api.answer = (req, res) => res.writeHead(req.headers.authorization === first ? 401 : 200).end('[]')
		expect(await test(id)).toMatchObject({ status: 'active' })
		expect(oauth.asked).toEqual(['authorization_code', 'refresh_token'])
		api.answers(401)
		expect(await test(id)).toMatchObject({ status: 'needs_reauth', lastError: { code: 'unauthorized' } })
		api.answers([])
		expect(await consent(await browse(await authorize(id), callback()))).toMatchObject({ status: 200 })
		expect(await read(id)).toMatchObject({ status: 'active', lastError: null })
		expect((await typesOf(id)).slice(-2)).toEqual(['needs_reauth', 'recovered'])
	})

	it('whose refresh token was used by somebody else needs others: invalid_grant', async () => {
		const id = await authorized()
		const [stolen] = await server.db.all(hidden, { id })
		minutes(31)
		await test(id)
		// What a backup from before the refresh would bring back.
		await server.db.transaction((tx) => tx.run(restore, { id, token: stolen?.token ?? '' }))
		minutes(31)
		expect(await test(id)).toMatchObject({
			...{ status: 'needs_reauth', lastError: { code: 'unauthorized', detail: 'The provider gave no token: invalid_grant.' } },
		})
	})

	it('that cannot be replaced since the provider fails is degraded, and works again later', async () => {
		const id = await authorized()
		await test(id)
		minutes(31)
		oauth.status = 503
		expect(await test(id)).toMatchObject({ status: 'degraded', lastError: { code: 'provider_failed' } })
		oauth.status = undefined
		expect(await test(id)).toMatchObject({ status: 'active', lastError: null })
		expect((await typesOf(id)).slice(-2)).toEqual(['degraded', 'recovered'])
	})

	it('is stored by a server that ends, also when the caller hung up', async () => {
		const id = await authorized()
		minutes(31)
		const ending = await startTestServer(server.settings)
		ending.clock.now = server.clock.now
		const caller = new AbortController()
		const closed = Promise.withResolvers<void>()
		oauth.before = async () => {
			caller.abort()
			closed.resolve(ending.close())
			// Nothing says that the server waits. One that does not has ended by then.
			await Promise.race([closed.promise, sleep(500)])
		}
		const headers = { authorization: `Bearer ${tenant.key}` }
		const asked = fetch(`${ending.url}/connections/${id}/test`, { method: 'POST', headers, signal: caller.signal })
		await expect(asked).rejects.toThrow('abort')
		await closed.promise
		oauth.before = async () => {}
		expect(await test(id)).toMatchObject({ status: 'active', lastRefreshedAt: expect.any(Number) })
		expect(oauth.asked).toEqual(['authorization_code', 'refresh_token'])
	})

	it('that came while the connection was authorized anew does not replace the newer one', async () => {
		const id = await authorized()
		minutes(31)
		let isFirst = true
		oauth.before = async () => {
			if (!isFirst) return
			isFirst = false
			const answer = await consent(await browse(await authorize(id), callback()))
			expect(answer.status).toBe(200)
		}
		expect(await test(id)).toMatchObject({ status: 'active' })
		const [row] = await server.db.all(hidden, { id })
		expect([row?.tokenGeneration, row?.refreshLeaseUntil]).toEqual([2, null])
	})

	it('is revoked at the provider when the connection is deleted, which a provider that fails does not stop', async () => {
		const id = await authorized()
		await tenant.remit.connections.delete(id)
		expect(oauth.asked).toEqual(['authorization_code', 'revocation'])
		const dead = await startTestServer({ ...server.settings, PROVIDER_XERO_TOKEN_URL: 'http://127.0.0.1:1/connect/token' })
		const next = await authorized()
		expect((await dead.ask('DELETE', `/connections/${next}`, { key: tenant.key })).status).toBe(200)
		await dead.close()
		expect((await tenant.ask('GET', `/connections/${next}`)).status).toBe(404)
	})
})

describe('client credentials', () => {
	const config = () => ({ baseUrl: api.url, tokenUrl: `${oauth.url}/connect/token`, scopes: ['accounting.contacts'] })
	const credentials = { clientId: client.id, clientSecret: client.secret }
	const connect = async (change: object = {}) =>
		(
			await tenant.remit.connections.create({
				...{ provider: 'http_json', name: 'Acme', authType: 'client_credentials', credentials, config: config() },
				...change,
			})
		).id

	it('get a token that is used until it is old', async () => {
		const id = await connect()
		expect(await test(id)).toMatchObject({ status: 'active', credentialHint: client.id, grantedScopes: ['accounting.contacts'] })
		await test(id)
		expect(oauth.asked).toEqual(['client_credentials'])
		minutes(25)
		await test(id)
		expect(oauth.asked).toEqual(['client_credentials', 'client_credentials'])
		expect(tokens()).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^Bearer \S{20,}$/)))
	})

	it('of a provider ask for the scopes of its objects', async () => {
		const id = await connect({ provider: 'xero', config: {} })
		const { status, grantedScopes } = await test(id)
		expect([status, grantedScopes]).toEqual(['active', ['accounting.contacts', 'accounting.invoices', 'accounting.payments']])
	})

	it('that are wrong make the connection fail, and others make it work', async () => {
		const id = await connect({ credentials: { ...credentials, clientSecret: secret('wrong') } })
		expect(await test(id)).toMatchObject({ status: 'failed', lastError: { code: 'unauthorized' } })
		await tenant.remit.connections.update(id, { credentials })
		expect(await test(id)).toMatchObject({ status: 'active' })
		await tenant.remit.connections.update(id, { credentials: { ...credentials, clientSecret: secret('wrong') } })
		expect(await read(id)).toMatchObject({ status: 'pending', expiresAt: null })
		expect((await test(id)).status).toBe('failed')
	})

	it('go to no other token URL without being given again', async () => {
		const id = await connect()
		const body = { config: { ...config(), tokenUrl: 'https://evil.example/token' } }
		const answer = await tenant.ask('PATCH', `/connections/${id}`, { body })
		expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '/config/tokenUrl'])
	})
})

interface Hidden {
	readonly token: string
	readonly tokenGeneration: number
	readonly refreshLeaseUntil: number | null
}

const hidden = query<{ id: string }, Hidden>((knex, key) => knex('connections').where(key).select('*'))
const restore = query<{ id: string; token: string }>((knex, { id, token }) => knex('connections').where({ id }).update({ token }))
const lease = query<{ id: string; refreshLeaseUntil: number }>((knex, { id, refreshLeaseUntil }) =>
	knex('connections').where({ id }).update({ refreshLeaseUntil }),
)
const rowsOf = (table: string) => query<object>((knex) => knex(table).select('*'))

it('no token, verifier, state or client secret is in an answer, event or audit entry, nor stored in clear', async () => {
	const id = await authorized()
	await test(id)
	const url = await authorize(id)
	const state = new URL(url).searchParams.get('state') as string
	const secrets = [client.secret, state, String(tokens()[0]).slice('Bearer '.length)]
	const answers = [await tenant.ask('GET', `/connections/${id}`), await tenant.ask('GET', '/webhooks/events')]
	const stored = await Promise.all(['connections', 'events', 'audit_log'].map((table) => server.db.all(rowsOf(table), {})))
	const all = JSON.stringify([answers.map(({ text }) => text), stored])
	for (const secret of secrets) expect(all).not.toContain(secret)
})
