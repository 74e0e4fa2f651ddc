// A server that lacks the key of sealed credentials for a while: connections and syncs are as before once it has the key.
import { Remit } from '@remit/sdk'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { newDatabase, type TestDatabase } from '../../../test/databases.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { encryptionKey } from '../../../test/leaks.ts'
import { connect, connectXero, fromHubSpot, newSync } from '../../../test/syncs.ts'
import { FakeHubSpot } from '../../../test/vendors/hubspot.ts'
import { FakeXero } from '../../../test/vendors/xero.ts'
import { openSecrets } from '../../platform/outside/secrets.ts'
import { findTokenRow, saveToken, type TokenRow } from '../connections/token-store.ts'

const [right, wrong] = [encryptionKey(1), encryptionKey(2)] as const

let database: TestDatabase
let hubspot: FakeHubSpot
let xero: FakeXero
let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	hubspot = await new FakeHubSpot().start()
	xero = await new FakeXero().start()
	await serveWith(right)
	tenant = await server.newTenant()
})
afterAll(async () => {
	await server.close()
	await hubspot.stop()
	await xero.stop()
	await database.drop()
})

async function serveWith(ENCRYPTION_KEYS: string): Promise<Remit> {
	const now = server?.clock.now ?? Date.now()
	await server?.close()
	server = await startTestServer({ ...database.settings, ...hubspot.settings, ...xero.settings, ENCRYPTION_KEYS })
	server.clock.now = now + 1_000
	for (const vendor of [hubspot, xero]) vendor.clock = () => server.clock.now
	return new Remit({ apiKey: tenant?.key ?? server.key, baseUrl: server.url })
}

const unavailable = { status: 503, code: 'unavailable', message: expect.stringContaining('lacks the key') }

it('A run waits for the key of its connection, and goes on once the server has it', async () => {
	hubspot.seed('companies', 5, { at: server.clock.now - 3_600_000 })
	const connectionId = await connect(tenant, 'hubspot', hubspot)
	const { id } = await newSync(server, tenant, connectionId, fromHubSpot, { schedule: { type: 'interval', minutes: 5 } })
	const before = await tenant.remit.connections.get(connectionId)
	const without = await serveWith(wrong)
	await without.syncs.run(id)
	for (let times = 0; times < 12; times++) {
		server.clock.now += 60_000
		await server.runJobs()
	}
	const lastRun = async () => (await without.syncs.runs.list(id, { limit: 1 })).data[0]
	// The server's own loop may have taken it up.
	await expect.poll(lastRun).toMatchObject({ status: 'waiting', error: { code: 'credentials_unreadable' } })
	const run = await lastRun()
	expect(run?.error?.detail).toContain('lacks the key')
	expect(await without.syncs.get(id)).toMatchObject({ status: 'running' })
	expect(await without.connections.get(connectionId)).toEqual(before)
	await expect(without.connections.test(connectionId)).rejects.toMatchObject(unavailable)
	await expect(without.connections.objects.schema(connectionId, 'companies')).rejects.toMatchObject(unavailable)
	expect(await without.connections.get(connectionId)).toEqual(before)
	const again = await serveWith(right)
	server.clock.now += 60_000
	await server.runJobs()
	expect(await again.syncs.runs.get(id, run?.id as string)).toMatchObject({ status: 'succeeded', progress: { created: 5 } })
	expect(await again.connections.get(connectionId)).toMatchObject({ status: 'active', lastError: null })
})

it('Connections by OAuth keep their status without the key of their tokens, too', async () => {
	const { remit, organizationId } = { ...tenant, remit: await serveWith(right) }
	const { id: person } = await remit.connections.create({ provider: 'hubspot', name: 'HubSpot', authType: 'oauth2' })
	const { connection } = (await findTokenRow(server.db, { organizationId, id: person })) as TokenRow
	const token = { accessToken: 'at', refreshToken: 'rt', issuedAt: 0, expiresAt: 1 }
	const secrets = openSecrets({ ENCRYPTION_KEYS: right, DATA_DIR: '' })
	await server.db.transaction((tx) => saveToken(tx, secrets, connection, token, {}, server.clock.now))
	const machine = await connectXero({ ...tenant, remit }, xero)
	const ids = [person, machine]
	const before = await Promise.all(ids.map((id) => remit.connections.get(id)))
	const without = await serveWith(wrong)
	for (const id of ids) await expect(without.connections.test(id)).rejects.toMatchObject(unavailable)
	expect(await Promise.all(ids.map((id) => without.connections.get(id)))).toEqual(before)
	const again = await serveWith(right)
	expect(await again.connections.test(machine)).toMatchObject({ status: 'active' })
})
