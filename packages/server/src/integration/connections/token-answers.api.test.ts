// What a provider may answer to a request for a token, and what its errors say of a connection.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { consent } from '../../../test/oauth-server.ts'
import { FakeProvider } from '../../../test/provider.ts'
import type { ConnectionConfig } from '../../generated/contract.ts'

let oauth: FakeProvider
let api: FakeProvider
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	oauth = await new FakeProvider().start()
	api = await new FakeProvider().start()
	server = await startTestServer({
		...{ PROVIDER_XERO_CLIENT_ID: 'remit', PROVIDER_XERO_CLIENT_SECRET: secret('s3cr3t'), PROVIDER_XERO_BASE_URL: api.url },
		...{ PROVIDER_XERO_AUTHORIZATION_URL: `${oauth.url}/authorize`, PROVIDER_XERO_TOKEN_URL: `${oauth.url}/token` },
	})
})
beforeEach(async () => {
	tenant = await server.newTenant()
	api.answers([{ tenantId: 'ten_1', tenantName: 'Acme' }])
	grants()
})
afterAll(async () => {
	await server.close()
	await api.stop()
	await oauth.stop()
})

/** The provider gives a token. */
function grants(change: object = {}): void {
	answers(200, { access_token: 'access', token_type: 'Bearer', refresh_token: 'refresh', expires_in: 1800, ...change })
}
function answers(status: number, body: object): void {
	oauth.answer = (_, res) => res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const scopes = (count: number) => Array.from({ length: count }, (_, n) => `scope.${n}`).join(' ')

const test = (id: string) => tenant.remit.connections.test(id)
const read = (id: string) => tenant.remit.connections.get(id)
const withClient = async (more: Partial<ConnectionConfig> = {}) => {
	const config = { baseUrl: api.url, tokenUrl: `${oauth.url}/token`, ...more }
	const credentials = { clientId: 'acme', clientSecret: secret('s3cr3t') }
	return (
		await tenant.remit.connections.create({
			...{ provider: 'http_json', name: 'Acme', authType: 'client_credentials', config, credentials },
		})
	).id
}
/** A connection that a person authorized, and the status of the page that says so. */
const authorize = async () => {
	const { id } = await tenant.remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
	const state = new URL((await tenant.remit.connections.authorize(id)).url).searchParams.get('state')
	const { status } = await consent(`${server.url}/oauth/callback?code=code&state=${state}`)
	return { id, status }
}

describe('the request for a token', () => {
	const basic = `acme:${secret('s3cr3t')}`
	const inBody = { client_id: 'acme', client_secret: secret('s3cr3t') }
	it.each<[string, Partial<ConnectionConfig>, string | undefined, object]>([
		['in its header', {}, basic, {}],
		['in its header, where that is said', { clientAuthentication: 'basic' }, basic, {}],
		['in its body', { clientAuthentication: 'body' }, undefined, inBody],
		[
			'in its body beside further fields and scopes',
			{
				clientAuthentication: 'body',
				scopes: ['read', 'write'],
				tokenParameters: { audience: 'https://api.acme.example', resource: 'a b' },
			},
			undefined,
			{ ...inBody, scope: 'read write', audience: 'https://api.acme.example', resource: 'a b' },
		],
	])('has the secret of the client %s', async (_, config, authorization, fields) => {
		const sent: unknown[] = []
		oauth.answer = async (req, res) => {
			let text = ''
			for await (const part of req) text += part
			const [, id] = req.headers.authorization?.split(' ') ?? []
			// RFC 6749 §2.3.1: what is unusual in it is written as in a form.
			sent.push(id && decodeURIComponent(Buffer.from(id, 'base64').toString()), Object.fromEntries(new URLSearchParams(text)))
			res.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"a","token_type":"Bearer"}')
		}
		expect((await test(await withClient(config))).status).toBe('active')
		expect(sent).toEqual([authorization, { grant_type: 'client_credentials', ...fields }])
	})
})

describe('the time of a token', () => {
	it.each([
		[0.00037, 0],
		[1800.9, 1_800_000],
		['3600', 3_600_000],
		['3600.9', 3_600_000],
		[' 3600s ', 3_600_000],
		[10 * 365 * 86_400, 10 * 365 * 86_400_000],
	])('of %s s is taken in whole seconds', async (expires_in, ms) => {
		grants({ expires_in })
		const { id, status } = await authorize()
		expect(status).toBe(200)
		expect(await read(id)).toMatchObject({ status: 'active', expiresAt: server.clock.now + ms })
		const client = await test(await withClient())
		expect(client.status).toBe('active')
		// The server's clock stands still, and the call takes its time.
		expect(Math.abs((client.expiresAt as number) - server.clock.now - ms)).toBeLessThan(1_000)
	})

	it.each([1e300, Number.MAX_SAFE_INTEGER, 4e8])(
		'of %s s is more than Remit believes: the token has none',
		async (expires_in) => {
			grants({ expires_in })
			const { id, status } = await authorize()
			expect(status).toBe(200)
			expect(await read(id)).toMatchObject({ status: 'active', expiresAt: null })
			expect(await test(id)).toMatchObject({ status: 'active', expiresAt: null })
			expect(await test(await withClient())).toMatchObject({ status: 'active', expiresAt: null })
		},
	)

	it.each([-1, '-1', 'soon', {}, [3600], true, '2030-01-01T00:00:00Z', 'Sat, 01 Jan 2030 00:00:00 GMT', '3600 minutes', '1e3'])(
		'that is %o is unknown: the token has none',
		async (expires_in) => {
			grants({ expires_in })
			const { id, status } = await authorize()
			expect(status).toBe(200)
			expect(await read(id)).toMatchObject({ status: 'active', expiresAt: null, lastError: null })
			expect(await test(await withClient())).toMatchObject({ status: 'active', expiresAt: null })
		},
	)
})

describe('the answer of a provider', () => {
	it('has scopes that are kept once each', async () => {
		grants({ scope: ' read  write read ' })
		expect((await read((await authorize()).id)).grantedScopes).toEqual(['read', 'write'])
		grants({ scope: scopes(100) })
		expect((await test(await withClient())).grantedScopes).toHaveLength(100)
	})

	it('has scopes that are kept apart by tabs, too', async () => {
		grants({ scope: '\tread\t write\tread' })
		expect((await read((await authorize()).id)).grantedScopes).toEqual(['read', 'write'])
		expect((await test(await withClient())).grantedScopes).toEqual(['read', 'write'])
	})

	it('may begin with a byte order mark, as may that with an error', async () => {
		const marked = (status: number, json: object) => {
			oauth.answer = (_, res) => res.writeHead(status).end(`\ufeff${JSON.stringify(json)}`)
		}
		marked(200, { access_token: 'access', expires_in: 1800, refresh_token: 'refresh' })
		const { id, status } = await authorize()
		expect(status).toBe(200)
		expect(await test(await withClient())).toMatchObject({ status: 'active', lastError: null })
		server.clock.now += 1_800_000
		marked(400, { error: 'invalid_grant' })
		expect(await test(id)).toMatchObject({ status: 'needs_reauth', lastError: { code: 'unauthorized' } })
	})

	it('says which of the scopes that Remit needs are missing, until a token has them', async () => {
		const needed = ['accounting.contacts', 'accounting.invoices', 'accounting.payments']
		grants({ scope: 'offline_access accounting.contacts' })
		const { id } = await authorize()
		expect((await read(id)).missingScopes).toEqual(needed.slice(1))
		server.clock.now += 1_800_000
		grants({ scope: needed.join(' ') })
		expect((await test(id)).missingScopes).toEqual([])
		grants()
		expect((await read((await authorize()).id)).missingScopes).toEqual([])
	})

	it.each<[string, number, object]>([
		['null for what there is not', 200, { refresh_token: null, scope: null, expires_in: null }],
		['an empty text for what there is not', 200, { refresh_token: '', expires_in: '' }],
		['no type of the token', 200, { token_type: undefined }],
		['null for the type of the token', 200, { token_type: null }],
		['its type in capitals', 200, { token_type: 'BEARER' }],
		['a list of scopes', 200, { scope: ['read', 'write'] }],
		['the status 201', 201, {}],
		['an id_token that is none', 200, { id_token: 'no JWT at all' }],
		['an id_token that is an object', 200, { id_token: {} }],
	])('with %s makes a connection active', async (_, status, change) => {
		answers(status, { access_token: 'access', token_type: 'Bearer', refresh_token: 'refresh', expires_in: 1800, ...change })
		const { id, status: ofPage } = await authorize()
		expect(ofPage).toBe(200)
		const scopes = 'scope' in change && change.scope ? { grantedScopes: change.scope } : {}
		expect(await read(id)).toMatchObject({ status: 'active', lastError: null, ...scopes })
		expect(await test(await withClient())).toMatchObject({ status: 'active', lastError: null, ...scopes })
	})

	it('without another refresh token keeps the one that there is', async () => {
		grants({ expires_in: 0 })
		const { id } = await authorize()
		const sent: (string | null)[] = []
		for (const refresh_token of [undefined, null, '', 'second', null]) {
			server.clock.now += 10_000
			oauth.answer = async (req, res) => {
				let text = ''
				for await (const part of req) text += part
				sent.push(new URLSearchParams(text).get('refresh_token'))
				res.writeHead(200, { 'content-type': 'application/json' })
				res.end(JSON.stringify({ access_token: 'access', token_type: 'Bearer', expires_in: 0, refresh_token }))
			}
			expect((await test(id)).status).toBe('active')
		}
		expect(sent).toEqual(['refresh', 'refresh', 'refresh', 'refresh', 'second'])
	})

	it('may have tokens of 16 KiB', async () => {
		grants({ access_token: 'a'.repeat(16_384), refresh_token: 'r'.repeat(16_384) })
		expect((await authorize()).status).toBe(200)
	})

	it.each([
		['101 scopes', { scope: scopes(101) }],
		['scopes that are no texts', { scope: [1] }],
		['scopes that are an object', { scope: {} }],
		['no access token', { access_token: undefined }],
		['an access token that is null', { access_token: null }],
		['an access token that is a number', { access_token: 7 }],
		['a refresh token that is an object', { refresh_token: {} }],
		['another type of the token', { token_type: 'mac' }],
		['a type of the token that is a list', { token_type: ['Bearer'] }],
		['a scope of 201 characters', { scope: 's'.repeat(201) }],
		['a scope with a NUL', { scope: 'a\u0000b' }],
		['a scope with a lone surrogate', { scope: 'a\ud800' }],
		['a scope with a line break', { scope: 'a\nb' }],
		['an access token of more than 16 KiB', { access_token: 'a'.repeat(16_385) }],
		['an access token with a line break', { access_token: 'a\r\nx-admin: 1' }],
		['a refresh token of more than 16 KiB', { refresh_token: 'r'.repeat(16_385) }],
		['a refresh token with a NUL', { refresh_token: 'r\u0000' }],
	])('with %s is no answer of OAuth, and the error names the field', async (_, change) => {
		grants(change)
		const { id, status } = await authorize()
		expect(status).toBe(502)
		const lastError = { code: 'invalid_answer', detail: expect.stringContaining(` ${Object.keys(change)[0]} `) }
		expect(await read(id)).toMatchObject({ status: 'pending', grantedScopes: [], expiresAt: null, lastError })
		expect(await test(await withClient())).toMatchObject({ status: 'failed', grantedScopes: [], lastError })
	})
})

describe('an error in place of a token', () => {
	it.each([
		['a page', '<html>', 'text/html'],
		['JSON that is not of OAuth', '{"message":"no"}', 'application/json'],
		['nothing', '', 'text/plain'],
	])('that is 401 with %s says that the credentials are wrong', async (_, text, type) => {
		grants({ expires_in: 0 })
		const [{ id }, own] = [await authorize(), await withClient()]
		expect((await test(own)).status).toBe('active')
		server.clock.now += 10_000
		oauth.answer = (_, res) => res.writeHead(401, { 'content-type': type }).end(text)
		for (const one of [id, own])
			expect(await test(one)).toMatchObject({ status: 'needs_reauth', lastError: { code: 'unauthorized' } })
	})

	it.each([[302], [403], [404]])('that is %d without words of OAuth is named by its status', async (status) => {
		grants({ expires_in: 0 })
		const { id } = await authorize()
		server.clock.now += 10_000
		answers(status, { message: 'no' })
		const detail = expect.stringContaining(String(status))
		expect((await test(id)).lastError).toMatchObject({ code: 'invalid_answer', detail })
	})

	it('may come with the status 200', async () => {
		grants({ expires_in: 0 })
		const { id } = await authorize()
		server.clock.now += 10_000
		answers(200, { error: 'invalid_grant' })
		expect(await test(id)).toMatchObject({ status: 'needs_reauth', lastError: { code: 'unauthorized' } })
	})

	it.each([
		['invalid_grant', 'unauthorized', 'needs_reauth', 'unauthorized'],
		['invalid_client', 'invalid_client', 'degraded', 'unauthorized'],
		['unauthorized_client', 'invalid_client', 'degraded', 'unauthorized'],
		['temporarily_unavailable', 'provider_failed', 'degraded', 'provider_failed'],
		['server_error', 'provider_failed', 'degraded', 'provider_failed'],
		['slow_down', 'provider_failed', 'degraded', 'provider_failed'],
		['constructor', 'provider_failed', 'degraded', 'provider_failed'],
	])('that is %s has the code %s and makes an authorized connection %s; with a client of its own: %s', async (...row) => {
		const [error, code, status, ofOwnClient] = row
		grants({ expires_in: 0 })
		const [{ id }, own] = [await authorize(), await withClient()]
		expect((await test(own)).status).toBe('active')
		server.clock.now += 10_000
		answers(400, { error })
		const detail = `The provider gave no token: ${error}.`
		expect(await test(id)).toMatchObject({ status, statusReason: detail, lastError: { code, detail } })
		const later = ofOwnClient === 'unauthorized' ? 'needs_reauth' : 'degraded'
		expect(await test(own)).toMatchObject({ status: later, lastError: { code: ofOwnClient } })
	})
})
