// Links by which a person connects an account, against a real server of OAuth 2 and a real API.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { secret } from '../../../../test/leaks.ts'
import { browse, OAuthServer } from '../../../../test/oauth-server.ts'
import { FakeProvider } from '../../../../test/provider.ts'
import { query } from '../../../platform/db/database.ts'

const [rightKey, wrongKey, password] = ['right', 'wrong', 'of-ada'].map(secret) as [string, string, string]
let oauth: OAuthServer
let api: FakeProvider
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	oauth = await new OAuthServer().start()
	api = await new FakeProvider().start()
	server = await startTestServer({ ...oauth.settings, PROVIDER_XERO_BASE_URL: api.url, PROVIDER_HUBSPOT_BASE_URL: api.url })
	oauth.serve([`${server.url}/oauth/callback`])
})
beforeEach(async () => {
	tenant = await server.newTenant({ name: 'Northlight & Sons' })
	Object.assign(oauth, { lets: 'in', status: undefined })
	api.requests.length = 0
	/** Takes one key, and one user with a password. */
	api.answer = (req, res) => {
		const known = [`Bearer ${rightKey}`, `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`]
		res.writeHead(known.includes(req.headers.authorization ?? '') ? 200 : 401).end('{"portalId":62515,"uiDomain":"Acme"}')
	}
})
afterAll(async () => {
	await server.close()
	await api.stop()
	await oauth.stop()
})

/** A browser of one person: it keeps its cookies and shows one page. */
class Browser {
	cookie = ''
	text = ''
	status = 0
	headers = new Headers()
	location: string | null = null

	async open(url: string, options: RequestInit = {}): Promise<this> {
		const headers = { ...(this.cookie && { cookie: this.cookie }), ...(options.headers as object) }
		const answer = await fetch(url, { redirect: 'manual', ...options, headers })
		this.cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? this.cookie
		this.location = answer.headers.get('location')
		Object.assign(this, { status: answer.status, headers: answer.headers, text: await answer.text() })
		return this
	}

	/** Posts the form that it shows. */
	post(url: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<this> {
		const check = /name="check" value="([^"]+)"/.exec(this.text)?.[1]?.replaceAll('&#61;', '=') ?? ''
		return this.open(url, { method: 'POST', body: new URLSearchParams({ check, ...fields }), headers })
	}
}

const opened = async (url: string) => new Browser().open(url)
const create = async (authType: 'oauth2' | 'api_key' | 'basic') => {
	const { remit } = tenant
	if (authType === 'oauth2') return (await remit.connections.create({ provider: 'xero', name: 'Xero', authType })).id
	if (authType === 'api_key') {
		const credentials = { apiKey: secret('of-before') }
		return (await remit.connections.create({ provider: 'hubspot', name: 'HubSpot', authType, credentials })).id
	}
	const config = { baseUrl: api.url }
	const credentials = { username: 'grace', password: secret('old') }
	return (await remit.connections.create({ provider: 'http_json', name: 'Acme', authType, credentials, config })).id
}
const linkOf = async (id: string, returnUrl?: string) =>
	(await tenant.remit.connections.link(id, returnUrl ? { returnUrl } : {})).url
const read = (id: string) => tenant.remit.connections.get(id)
const callback = () => `${server.url}/oauth/callback`
const lastEvent = async (id: string) => (await eventsOf(server, tenant, id)).at(-1)

describe('the link of a connection with oauth2', () => {
	it('names who asks, leads to the provider and back, and asks nothing twice', async () => {
		const id = await create('oauth2')
		const url = await linkOf(id)
		const browser = await opened(url)
		expect([browser.status, browser.text]).toEqual([
			200,
			expect.stringContaining('<h1>Connect your Xero account with Northlight &#38; Sons?</h1>'),
		])
		await browser.post(url)
		expect(browser.status).toBe(303)
		await browser.open(await browse(browser.location as string, callback()))
		expect([browser.status, browser.text]).toEqual([200, expect.stringContaining('<h1>Connected</h1>')])
		expect(await read(id)).toMatchObject({ status: 'active' })
		expect(await lastEvent(id)).toMatchObject({ type: 'connection.activated', actor: { type: 'client_link', id: null } })
		const { data } = await tenant.remit.connections.history(id)
		expect(data.map(({ action, actor }) => [action, actor.type]).slice(0, 3)).toEqual([
			['updated', 'client_link'],
			['authorization_started', 'client_link'],
			['shared', 'api_key'],
		])
		expect(await opened(url)).toMatchObject({ status: 410, text: expect.stringContaining('was used') })
	})

	it('in another browser than the one of the page asks whom the account is for', async () => {
		const id = await create('oauth2')
		const url = await linkOf(id)
		const browser = await (await opened(url)).post(url)
		const back = await browse(browser.location as string, callback())
		const stranger = await new Browser().open(back)
		expect([stranger.status, stranger.text]).toEqual([200, expect.stringContaining('with Northlight &#38; Sons?')])
		expect(await read(id)).toMatchObject({ status: 'pending' })
		await browser.open(back, { headers: { 'sec-purpose': 'prefetch' } })
		expect(await read(id)).toMatchObject({ status: 'pending' })
		expect((await browser.open(back)).text).toContain('<h1>Connected</h1>')
	})

	it('can be opened again when the person denied', async () => {
		oauth.lets = 'nobody in'
		const url = await linkOf(await create('oauth2'))
		const browser = await (await opened(url)).post(url)
		await browser.open(await browse(browser.location as string, callback()))
		expect([browser.status, browser.text]).toEqual([403, expect.stringContaining('open the link that you were sent')])
		expect(await opened(url)).toMatchObject({ status: 200 })
	})

	it('lets its form lead to any https host, since a provider has several, and to no http host but the one that is set', async () => {
		const { headers } = await opened(await linkOf(await create('oauth2')))
		expect(headers.get('content-security-policy')).toContain(`form-action 'self' https: ${oauth.url};`)
	})

	it('ends with the next link, and so does the authorization that was begun by it', async () => {
		const id = await create('oauth2')
		const url = await linkOf(id)
		const browser = await (await opened(url)).post(url)
		const back = await browse(browser.location as string, callback())
		const next = await linkOf(id)
		expect(await opened(url)).toMatchObject({ status: 404 })
		expect(await browser.open(back)).toMatchObject({ status: 404 })
		expect(await opened(next)).toMatchObject({ status: 200 })
	})
})

describe('the link of a connection with credentials', () => {
	it('says that a key is wrong, keeps the key before, and stores the one that works', async () => {
		await tenant.remit.organization.update({ connectReturnOrigins: ['https://app.acme.example'] })
		const id = await create('api_key')
		const url = await linkOf(id, 'https://app.acme.example/settings?a=1')
		const browser = await opened(url)
		expect(browser.text).toContain(new URL(api.url).host)
		const before = await read(id)
		await browser.post(url, { apiKey: wrongKey })
		expect([browser.status, browser.text]).toEqual([422, expect.stringContaining('role="alert">HubSpot does not take this')])
		expect(browser.text).not.toContain(wrongKey)
		expect(await read(id)).toEqual(before)
		await browser.post(url, { apiKey: ` ${rightKey}\n` })
		expect([browser.status, browser.text]).toEqual([200, expect.stringContaining('<h1>Connected</h1>')])
		expect(browser.text).toContain('href="https://app.acme.example/settings?a&#61;1"')
		expect(await read(id)).toMatchObject({
			...{ status: 'active', credentialHint: rightKey.slice(-4), account: { externalId: '62515', displayName: 'Acme' } },
			lastSuccessAt: server.clock.now,
		})
		expect(await lastEvent(id)).toMatchObject({ type: 'connection.activated', actor: { type: 'client_link' } })
		const { data } = await tenant.remit.connections.history(id)
		expect(data.map(({ action, actor }) => `${action} ${actor.type}`)).toEqual([
			...['updated client_link', 'tested client_link', 'shared api_key', 'created api_key'],
		])
		expect(await opened(url)).toMatchObject({ status: 410 })
		expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active' })
	})

	it('asks for a user name and a password where these prove it', async () => {
		const id = await create('basic')
		const url = await linkOf(id)
		const browser = await opened(url)
		expect(browser.text).toContain(`Connect your ${new URL(api.url).host} account`)
		expect(await browser.post(url, { username: 'ada' })).toMatchObject({ status: 422 })
		expect(api.requests).toEqual([])
		await browser.post(url, { username: 'ada', password })
		expect(await read(id)).toMatchObject({ status: 'active' })
	})

	it('says so when the provider fails, which ends nothing', async () => {
		api.answers(503)
		const url = await linkOf(await create('api_key'))
		const browser = await (await opened(url)).post(url, { apiKey: rightKey })
		expect([browser.status, browser.text]).toEqual([422, expect.stringContaining('The provider answered 503.')])
		expect(await opened(url)).toMatchObject({ status: 200 })
	})

	it('stores credentials once, however many are posted at the same time', async () => {
		const id = await create('api_key')
		const url = await linkOf(id)
		const browsers = await Promise.all([1, 2, 3].map(() => opened(url)))
		await Promise.all(browsers.map((browser) => browser.post(url, { apiKey: rightKey })))
		expect(browsers.filter(({ status }) => status === 200)).toHaveLength(1)
		expect((await eventsOf(server, tenant, id)).map(({ type }) => type)).toEqual(['connection.created', 'connection.activated'])
	})

	it('ends after 20 tries', async () => {
		const url = await linkOf(await create('api_key'))
		const browser = await opened(url)
		for (let tries = 0; tries < 20; tries++) await browser.post(url, { apiKey: secret(`wrong-${tries}`) })
		expect(await browser.post(url, { apiKey: rightKey })).toMatchObject({ status: 410 })
		expect(api.requests).toHaveLength(20)
	})
})

describe('a link', () => {
	it('is a secret that the database has the hash of, with the headers of one', async () => {
		const url = await linkOf(await create('api_key'))
		const token = url.split('/').at(-1) as string
		expect(Buffer.from(token, 'base64url')).toHaveLength(32)
		expect(JSON.stringify(await server.db.all(all, {}))).not.toContain(token)
		const { headers } = await opened(url)
		expect(Object.fromEntries(headers)).toMatchObject({
			...{ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' },
			'content-security-policy': expect.stringMatching(/form-action 'self'; base-uri 'none'; frame-ancestors 'none'/),
			'set-cookie': expect.stringMatching(/^remit_connect=[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/),
		})
	})

	it('takes no form of another site, of another browser or of another link', async () => {
		const [url, other] = [await linkOf(await create('api_key')), await linkOf(await create('api_key'))]
		const give = { apiKey: rightKey }
		const browser = await opened(url)
		const shown = browser.text
		expect(await browser.post(url, give, { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 })
		const foreign = Object.assign(new Browser(), { text: shown })
		expect(await foreign.post(url, give)).toMatchObject({ status: 403 })
		const second = Object.assign(await opened(other), { text: shown })
		expect(await second.post(other, give)).toMatchObject({ status: 403 })
		expect(await new Browser().open(url, { method: 'POST' })).toMatchObject({ status: 403 })
		expect(api.requests).toEqual([])
	})

	it('works for an hour, and not once the connection has other credentials, is disabled or deleted', async () => {
		const id = await create('api_key')
		const url = await linkOf(id)
		server.clock.now += 3_600_000
		expect(await opened(url)).toMatchObject({ status: 410, text: expect.stringContaining('too old') })
		const changes = [
			() => tenant.remit.connections.update(id, { credentials: { apiKey: secret('another') } }),
			() =>
				tenant.remit.connections
					.update(id, { status: 'disabled' })
					.then(() => tenant.remit.connections.update(id, { status: 'active' })),
			() => tenant.remit.connections.delete(id),
		]
		for (const change of changes) {
			const next = await linkOf(id)
			expect(await opened(next)).toMatchObject({ status: 200 })
			await change()
			expect(await opened(next)).toMatchObject({ status: 404 })
		}
	})

	it('speaks the language of the browser, whatever has become of it', async () => {
		const id = await create('basic')
		const url = await linkOf(id)
		const german = { headers: { 'accept-language': 'de-CH, en;q=0.5' } }
		const browser = await new Browser().open(url, german)
		expect(browser.text).toMatch(/<html lang="de">.*mit Northlight &#38; Sons verbinden\?/s)
		const form = /name="check" value="([^"]+)"/.exec(browser.text)?.[1]?.replaceAll('&#61;', '=') ?? ''
		const post = (fields: Record<string, string>) =>
			browser.open(url, { method: 'POST', body: new URLSearchParams({ check: form, ...fields }), ...german })
		// The name of a user stays, unless it may be a key.
		expect((await post({ username: 'ada@acme.example', password: wrongKey })).text).toMatch(
			/value="ada&#64;acme.example"|value="ada@/,
		)
		expect(browser.text).toContain('nimmt das nicht an')
		expect((await post({ username: wrongKey, password: wrongKey })).text).not.toContain(wrongKey)
		expect((await post({ username: 'ada', password })).text).toMatch(/<html lang="de">.*<h1>Verbunden<\/h1>/s)
		expect((await new Browser().open(url, german)).text).toMatch(/<html lang="de">.*schon verwendet/s)
		expect((await new Browser().open(`${server.url}/connect/nothing`, german)).text).toContain('Dieser Link funktioniert nicht')
	})

	it('that nobody made is a page in the language of the browser, and too many of them are refused', async () => {
		const strict = await startTestServer({ ...server.settings, GUESS_RATE_LIMIT: 3 })
		const guess = () => fetch(`${strict.url}/connect/nothing`, { headers: { 'accept-language': 'de' } })
		expect(await (await guess()).text()).toContain('<html lang="de">')
		for (const _ of [1, 2]) expect((await guess()).status).toBe(404)
		expect((await guess()).status).toBe(429)
		await strict.close()
	})

	it('leads back only to where the organization lets it', async () => {
		const id = await create('api_key')
		const ask = async (returnUrl: string) => {
			const { status, body } = await tenant.ask('POST', `/connections/${id}/link`, { body: { returnUrl } })
			return status === 200 ? 200 : body.code
		}
		expect(await ask('https://app.acme.example/')).toBe('return_url_not_allowed')
		await tenant.remit.organization.update({ connectReturnOrigins: ['https://app.acme.example', 'http://localhost:3000'] })
		expect(await ask('https://app.acme.example/')).toBe(200)
		expect(await ask('http://localhost:3000/settings')).toBe(200)
		for (const url of ['https://app.acme.example.evil.example/', 'http://app.acme.example/', 'https://app.acme.example:444/'])
			expect(await ask(url)).toBe('return_url_not_allowed')
		for (const wrong of ['https://*.acme.example', 'https://acme.example/path', 'ftp://acme.example'])
			expect((await tenant.ask('PATCH', '/api/organization', { body: { connectReturnOrigins: [wrong] } })).status).toBe(400)
	})

	it('is refused where there are none, or the server has no client', async () => {
		const { remit } = tenant
		const refusal = async (id: string) => (await tenant.ask('POST', `/connections/${id}/link`)).body.code
		const hubspot = await remit.connections.create({ provider: 'hubspot', name: 'HubSpot', authType: 'oauth2' })
		expect(await refusal(hubspot.id)).toBe('provider_not_configured')
		const credentials = { clientId: 'a', clientSecret: secret('b') }
		const own = await remit.connections.create({ provider: 'xero', name: 'Own', authType: 'client_credentials', credentials })
		expect(await refusal(own.id)).toBe('invalid_connection')
		const { key } = await tenant.newKey(['read', 'write'])
		expect((await tenant.ask('POST', `/connections/${hubspot.id}/link`, { key })).status).toBe(403)
	})
})

const all = query<object, Record<string, unknown>>((knex) => knex('connections').select('*'))

it('A connection is made without its key, which somebody else brings by the link', async () => {
	const { id } = await tenant.remit.connections.create({ provider: 'hubspot', name: 'HubSpot', authType: 'api_key' })
	expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'pending', lastError: { code: 'not_authorized' } })
	const url = await linkOf(id)
	await (await opened(url)).post(url, { apiKey: rightKey })
	expect(await read(id)).toMatchObject({ status: 'active', account: { externalId: '62515' } })
})
