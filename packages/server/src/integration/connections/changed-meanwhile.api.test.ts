// A connection that is changed while it is tested.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { browse, consent, OAuthServer } from '../../../test/oauth-server.ts'
import { FakeProvider } from '../../../test/provider.ts'

let oauth: OAuthServer
/** Where the connections were first, and where they are moved to. */
let before: FakeProvider
let after: FakeProvider
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	oauth = await new OAuthServer().start()
	before = await new FakeProvider().start()
	after = await new FakeProvider().start()
	server = await startTestServer({ ...oauth.settings, PROVIDER_XERO_BASE_URL: before.url })
	oauth.serve([`${server.url}/oauth/callback`])
})
beforeEach(async () => {
	tenant = await server.newTenant()
	for (const provider of [before, after]) {
		provider.answers({ access_token: `token-of-${provider.url}`, token_type: 'Bearer', expires_in: 1800 })
		provider.requests.length = 0
	}
})
afterAll(async () => {
	await server.close()
	await before.stop()
	await after.stop()
	await oauth.stop()
})

const test = (id: string) => tenant.remit.connections.test(id)
const read = (id: string) => tenant.remit.connections.get(id)
const authorize = async (id: string) => {
	const { url } = await tenant.remit.connections.authorize(id)
	expect((await consent(await browse(url, `${server.url}/oauth/callback`))).status).toBe(200)
}
const credentialsOf = ({ requests }: FakeProvider) => requests.map(({ headers }) => headers.authorization)

it('takes new credentials, and tokens of them, to none of its old hosts', async () => {
	const basic = (clientSecret: string) => `Basic ${btoa(`acme:${clientSecret}`)}`
	const at = ({ url }: FakeProvider, clientSecret: string) => ({
		credentials: { clientId: 'acme', clientSecret },
		config: { baseUrl: url, tokenUrl: `${url}/token`, testPath: '/me' },
	})
	const created = { provider: 'http_json', name: 'Acme', authType: 'client_credentials' } as const
	const { id } = await tenant.remit.connections.create({ ...created, ...at(before, 'old') })
	await test(id)
	before.answer = async (_, res) => {
		await tenant.remit.connections.update(id, at(after, 'new'))
		res.writeHead(401).end()
	}
	expect(await test(id)).toMatchObject({ status: 'active', lastError: null })
	expect(credentialsOf(before)).toEqual([basic('old'), ...Array(2).fill(`Bearer token-of-${before.url}`)])
	expect(credentialsOf(after)).toEqual([basic('new'), `Bearer token-of-${after.url}`])
})

it('keeps its status when what was tested is not its config any more', async () => {
	const config = { baseUrl: before.url, testPath: '/me' }
	const { id } = await tenant.remit.connections.create({
		...{ provider: 'http_json', name: 'Acme', authType: 'api_key', credentials: { apiKey: secret('key') }, config },
	})
	before.answer = async (_, res) => {
		await tenant.remit.connections.update(id, { config: { ...config, testPath: '/other' } })
		res.end('{}')
	}
	expect(await test(id)).toMatchObject({ status: 'pending', lastSuccessAt: null })
})

it('keeps its status when what was tested is an authorization before the last', async () => {
	const { id } = await tenant.remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
	await authorize(id)
	before.answer = async (_, res) => {
		// It also asks for the account.
		before.answers([])
		await authorize(id)
		res.writeHead(503).end()
	}
	expect(await test(id)).toMatchObject({ status: 'active', lastError: null })
	before.answers(503)
	expect(await test(id)).toMatchObject({ status: 'degraded' })
})

it('keeps neither the account nor the scopes that its last credentials or authorization had', async () => {
	before.answers([{ tenantId: 'ten_1', tenantName: 'Acme' }])
	const { id } = await tenant.remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
	await authorize(id)
	expect(await test(id)).toMatchObject({ account: { externalId: 'ten_1' } })
	before.answers(503)
	await authorize(id)
	expect(await read(id)).toMatchObject({ account: null, grantedScopes: expect.arrayContaining(['accounting.contacts']) })
	before.answers([{ tenantId: 'ten_1', tenantName: 'Acme' }])
	await test(id)
	await tenant.remit.connections.update(id, { credentials: {} })
	expect(await read(id)).toMatchObject({ account: null, grantedScopes: [] })
})

it('is active after an authorization also when it was disabled in between', async () => {
	const { id } = await tenant.remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
	await authorize(id)
	await tenant.remit.connections.update(id, { status: 'disabled' })
	await tenant.remit.connections.update(id, { status: 'active' })
	expect(await read(id)).toMatchObject({ status: 'active' })
})

it.each([{ status: 'disabled' }, { credentials: {} }] as const)(
	'takes no authorization that was begun before %j',
	async (change) => {
		const { id } = await tenant.remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
		const { url } = await tenant.remit.connections.authorize(id)
		const back = await browse(url, `${server.url}/oauth/callback`)
		await tenant.remit.connections.update(id, change)
		await tenant.remit.connections.update(id, { status: 'active' })
		expect((await fetch(back)).status).toBe(404)
		expect(await read(id)).toMatchObject({ status: 'pending' })
	},
)
