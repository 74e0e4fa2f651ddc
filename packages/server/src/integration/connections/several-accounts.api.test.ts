// Credentials that open several accounts: somebody says which is meant.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { browse, consent } from '../../../test/oauth-server.ts'
import { FakeXero } from '../../../test/vendors/xero.ts'

const xero = new FakeXero()
let server: TestServer
let tenant: Tenant
const [one, other] = [
	{ tenantId: '00000000-0000-4000-8000-000000000001', tenantName: 'Acme NZ' },
	{ tenantId: '00000000-0000-4000-8000-000000000002', tenantName: 'Acme AU' },
]
const accounts = [one, other].map(({ tenantId, tenantName }) => ({ externalId: tenantId, displayName: tenantName }))
beforeAll(async () => {
	await xero.start()
	server = await startTestServer(xero.settings)
	xero.clock = () => server.clock.now
})
afterAll(async () => {
	await server.close()
	await xero.stop()
})
beforeEach(async () => {
	tenant = await server.newTenant()
	xero.tenants = [one, other]
	xero.contacts.clear()
})

async function newConnection(): Promise<string> {
	const { id: clientId, secret: clientSecret } = xero.tokens.client
	const input = { provider: 'xero', name: 'Xero', authType: 'client_credentials' } as const
	return (await tenant.remit.connections.create({ ...input, credentials: { clientId, clientSecret } })).id
}
const test = (id: string) => tenant.remit.connections.test(id)
const choose = (id: string, tenantId: string) => tenant.remit.connections.update(id, { config: { tenantId } })
const unchosen = { account: null, lastError: { code: 'account_not_chosen', accounts } }

it('a test names them, and the connection is active once one is chosen', async () => {
	const id = await newConnection()
	const tested = await test(id)
	expect(tested).toMatchObject({ ...unchosen, status: 'failed' })
	expect(tested.statusReason).toBe(
		`The credentials open Acme NZ (${one?.tenantId}), Acme AU (${other?.tenantId}). Name one as config.tenantId.`,
	)
	await choose(id, other?.tenantId as string)
	expect(await tenant.remit.connections.get(id)).toMatchObject({ status: 'pending', account: null })
	expect(await test(id)).toMatchObject({ status: 'active', account: accounts[1], lastError: null })
	await choose(id, one?.tenantId as string)
	expect(await test(id)).toMatchObject({ status: 'active', account: accounts[0] })
	await choose(id, 'nobody')
	expect(await test(id)).toMatchObject(unchosen)
})

it('a consent to several is kept: no other is needed to choose one', async () => {
	const { id } = await tenant.remit.connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
	const { url } = await tenant.remit.connections.authorize(id)
	await consent(await browse(url, `${server.url}/oauth/callback`))
	const authorized = await tenant.remit.connections.get(id)
	expect(authorized).toMatchObject({ ...unchosen, status: 'failed' })
	expect(authorized.expiresAt).toBeGreaterThan(server.clock.now)
	await choose(id, other?.tenantId as string)
	expect(await test(id)).toMatchObject({ status: 'active', account: accounts[1] })
})

it('a connection stays with its account when the same login opens another one later', async () => {
	xero.tenants = [other as typeof one]
	const id = await newConnection()
	expect(await test(id)).toMatchObject({ status: 'active', account: accounts[1] })
	xero.tenants = [one, other]
	expect(await test(id)).toMatchObject({ status: 'active', account: accounts[1] })
	xero.tenants = [one, { tenantId: 'third', tenantName: 'Third' }]
	expect(await test(id)).toMatchObject({ status: 'degraded', lastError: { code: 'account_not_chosen' } })
})

it('a preview of a connection that has none says what to do', async () => {
	const id = await newConnection()
	const fields = [{ target: 'name', source: 'Name' }]
	const [source, target] = [
		{ system: 'xero', object: 'contacts' },
		{ system: 'internal', object: 'company' },
	]
	const mapping = await tenant.remit.mappings.create({ name: 'In', source, target, fields, status: 'active' })
	const asked = await tenant.ask('POST', `/mappings/${mapping.id}/preview`, { body: { connectionId: id } })
	expect(asked).toMatchObject({ status: 502, body: { code: 'provider_failed', detail: expect.stringContaining('Acme AU') } })
})
