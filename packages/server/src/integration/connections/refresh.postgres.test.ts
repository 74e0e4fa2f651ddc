// A token that has expired, while 50 callers of each of three processes want one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client } from '@remit/sdk'
import { expect, it, onTestFinished } from 'vitest'
import { startTestServer } from '../../../test/harness.ts'
import { browse, consent, OAuthServer } from '../../../test/oauth-server.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { Remit, type Served } from '../../../test/remit.ts'
import { openSecrets } from '../../platform/outside/secrets.ts'
import { findTokenRow, openToken, type StoredToken, saveToken, type TokenRow } from './token-store.ts'

const [processes, callers] = [3, 50]

it('is replaced once for 50 callers of each of three processes on one database', { timeout: 60_000 }, async () => {
	const folder = mkdtempSync(join(tmpdir(), 'remit-refresh-'))
	const oauth = await new OAuthServer().start()
	const api = await new FakeProvider().start()
	api.answers([{ tenantId: 'ten_1', tenantName: 'Acme' }])
	const providers = { ...oauth.settings, PROVIDER_XERO_BASE_URL: api.url }
	const server = await startTestServer(providers)
	const { DATABASE_URL = '', ENCRYPTION_KEYS = '' } = server.settings
	const remit = new Remit(
		{ ...providers, DATABASE_URL, ENCRYPTION_KEYS, EGRESS_ALLOW_CIDRS: '127.0.0.0/8', INTEGRATION_RATE_LIMIT: '0' },
		folder,
	)
	onTestFinished(async () => {
		remit.stop()
		await server.close()
		await Promise.all([api.stop(), oauth.stop()])
		rmSync(folder, { recursive: true })
	})
	oauth.serve([`${server.url}/oauth/callback`])
	const { connections } = server.remit
	const { id } = await connections.create({ provider: 'xero', name: 'Xero', authType: 'oauth2' })
	expect(await consent(await browse((await connections.authorize(id)).url, `${server.url}/oauth/callback`))).toMatchObject({
		status: 200,
	})
	const servers: Served[] = await Promise.all(Array.from({ length: processes }, () => remit.serve()))
	const tests = () =>
		servers
			.flatMap(({ url }) => Array.from({ length: callers }, () => new Client({ apiKey: server.key, baseUrl: url })))
			.map((client) => client.connections.test(id))
	/** Nobody may use the old token any more. */
	const expire = async () => {
		const secrets = openSecrets({ ENCRYPTION_KEYS, DATA_DIR: '' })
		const row = (await findTokenRow(server.db, { organizationId: server.organizationId, id })) as TokenRow
		const token = { ...(openToken(secrets, row) as StoredToken), expiresAt: Date.now() - 1_000 }
		await server.db.transaction((tx) => saveToken(tx, secrets, row.connection, token, {}, Date.now()))
	}
	for (const round of [1, 2]) {
		await expire()
		api.requests.length = 0
		const tested = await Promise.all(tests())
		expect(new Set(tested.map(({ status }) => status))).toEqual(new Set(['active']))
		expect(oauth.asked).toEqual(['authorization_code', ...Array(round).fill('refresh_token')])
		expect(api.requests).toHaveLength(processes * callers)
		expect(new Set(api.requests.map(({ headers }) => headers.authorization)).size).toBe(1)
	}
	await Promise.all(servers.map((served) => served.end('SIGTERM')))
})
