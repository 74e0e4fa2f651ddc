// The stand-ins of vendors agree with what Remit knows of them: their connections become active.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../harness.ts'
import { browse, consent } from '../oauth-server.ts'
import { FakeHubSpot } from './hubspot.ts'
import { FakeStripe } from './stripe.ts'
import { FakeXero } from './xero.ts'

const vendors = { hubspot: new FakeHubSpot(), xero: new FakeXero(), stripe: new FakeStripe() }
let server: TestServer
let tenant: Tenant

beforeAll(async () => {
	const settings = await Promise.all(Object.values(vendors).map(async (vendor) => (await vendor.start()).settings))
	server = await startTestServer(Object.assign({}, ...settings))
	for (const vendor of Object.values(vendors)) vendor.clock = () => server.clock.now
	tenant = await server.newTenant()
})
afterAll(async () => {
	await server.close()
	for (const vendor of Object.values(vendors)) await vendor.stop()
})

it.each([
	['hubspot', '62515001'],
	['stripe', 'acct_1HqLyjWDarjtT1zd'],
] as const)('%s with a key', async (provider, externalId) => {
	const credentials = { apiKey: vendors[provider].token }
	const { id } = await tenant.remit.connections.create({ provider, name: provider, authType: 'api_key', credentials })
	expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active', account: { externalId } })
})

it.each(['hubspot', 'xero'] as const)('%s by consent, with a token that is refreshed when it ends', async (provider) => {
	const { id } = await tenant.remit.connections.create({ provider, name: provider, authType: 'oauth2' })
	const { url } = await tenant.remit.connections.authorize(id)
	await consent(await browse(url, `${server.url}/oauth/callback`))
	expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active' })
	const refreshes = () => vendors[provider].log.filter(({ body }) => body.includes('grant_type=refresh_token')).length
	vendors[provider].meet([{ kind: 'token_expired' }])
	expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active' })
	expect(refreshes()).toBe(1)
	server.clock.now += 1_800_000
	expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active' })
	expect(refreshes()).toBe(2)
})

it('xero with credentials of the client', async () => {
	const { id: clientId, secret: clientSecret } = vendors.xero.tokens.client
	const credentials = { clientId, clientSecret }
	const { id } = await tenant.remit.connections.create({
		provider: 'xero',
		name: 'xero',
		authType: 'client_credentials',
		credentials,
	})
	const account = { externalId: vendors.xero.tenants[0]?.tenantId, displayName: 'Demo Company (NZ)' }
	expect(await tenant.remit.connections.test(id)).toMatchObject({ status: 'active', account })
})
