// A commit whose answer is lost may or may not be stored: the answer says so, and a repeat with the same Idempotency-Key gives
// the right answer either way.
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { Database, TransactionOptions } from '../src/platform/db/database.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import { DatabaseProxy } from './database-proxy.ts'
import { startTestServer, type Tenant, type TestServer } from './harness.ts'

let server: TestServer
let proxy: DatabaseProxy
/** A second server, whose connections to PostgreSQL go through `proxy`. */
let through: RunningServer
let db: Database
beforeAll(async () => {
	server = await startTestServer({ PAYMENT_PROCESSOR: 'test' })
	proxy = await new DatabaseProxy(server.settings.DATABASE_URL as string).listen()
	const config = {
		...readConfig({ PORT: '0', NODE_ENV: 'test', EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }),
		...server.settings,
		// A commit of background work would take the fate that is meant for one of a request.
		ROLE: 'api' as const,
		DATABASE_URL: proxy.url,
	}
	const log = pino({ level: 'silent' })
	const opened = await openDatabase(config, log)
	// What no request waits for, such as when keys were used, goes around the proxy: it would take the fate as well.
	const isOfRequest = ({ organizationId, durable }: TransactionOptions) => organizationId !== undefined && durable !== false
	db = {
		...opened,
		transaction: (work, options = {}) => (isOfRequest(options) ? opened : server.db).transaction(work, options),
	}
	through = await startServer({ db, config, log })
})
afterAll(async () => {
	await through.close()
	proxy.cut()
	await server.close()
})

interface Asked {
	readonly status: number
	readonly headers: Headers
	readonly body: { code: string; detail: string; id: string; url: string }
}

async function ask({ key }: Tenant, method: string, path: string, body: object = {}, idempotencyKey?: string): Promise<Asked> {
	const response = await fetch(through.url + path, {
		method,
		headers: {
			authorization: `Bearer ${key}`,
			'content-type': 'application/json',
			...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
		},
		body: JSON.stringify(body),
	})
	return { status: response.status, headers: response.headers, body: (await response.json()) as Asked['body'] }
}

/** Has the commit of the request fail. Its key is known to the process already, so that no other commit comes first. */
async function askWhile(fate: 'lost' | 'unanswered', ...request: Parameters<typeof ask>): Promise<Asked> {
	proxy.nextCommit = fate
	return ask(...request)
}

const unknown = (advice: RegExp) => ({
	status: 503,
	body: { code: 'outcome_unknown', detail: expect.stringMatching(advice) },
})
const withKey = unknown(/may or may not have been stored: repeat it with the same Idempotency-Key\.$/)
const withoutKey = unknown(/may or may not have been stored: look whether it was before you repeat it\.$/)
const companiesOf = async (tenant: Tenant) => (await tenant.ask('GET', '/api/companies')).body.data

describe.each(['lost', 'unanswered'] as const)('a commit that is %s', (fate) => {
	const isStored = fate === 'unanswered'

	it('is answered as unknown, and a repeat with its Idempotency-Key does it once', async () => {
		const tenant = await server.newTenant()
		const create = ['POST', '/api/companies', { name: 'Once' }, 'once'] as const
		const first = await askWhile(fate, tenant, ...create)
		expect(first).toMatchObject(withKey)
		expect(Number(first.headers.get('retry-after'))).toBeGreaterThan(0)
		const stored = await companiesOf(tenant)
		expect(stored).toHaveLength(isStored ? 1 : 0)
		const again = await ask(tenant, ...create)
		expect(again).toMatchObject({ status: 201 })
		expect(again.headers.get('idempotent-replayed')).toBe(isStored ? 'true' : null)
		expect((await companiesOf(tenant)).map(({ id }: { id: string }) => id)).toEqual([again.body.id])
		if (isStored) expect(stored[0].id).toBe(again.body.id)
	})

	it('without a key is not run again by the server, and the caller is told to look', async () => {
		const tenant = await server.newTenant()
		expect(await askWhile(fate, tenant, 'POST', '/api/companies', { name: 'Once' })).toMatchObject(withoutKey)
		const stored = await companiesOf(tenant)
		expect(stored).toHaveLength(isStored ? 1 : 0)
		const { id } = (await tenant.ask('POST', '/api/companies', { body: { name: 'Before' } })).body
		// This operation takes no Idempotency-Key.
		expect(await askWhile(fate, tenant, 'PATCH', `/api/companies/${id}`, { name: 'After' }, 'unused')).toMatchObject(withoutKey)
		expect((await tenant.ask('GET', `/api/companies/${id}`)).body.data.name).toBe(isStored ? 'After' : 'Before')
	})

	it('of an operation that asks others first is told apart by a repeat at once', async () => {
		const tenant = await server.newTenant()
		const create = [
			'POST',
			'/webhooks/endpoints',
			{ url: 'https://127.0.0.1/hook', eventTypes: ['invoice.paid'] },
			'endpoint',
		] as const
		// The first commit stores the key as under way, the second has the effect.
		const first = db.onCommit(() => {
			proxy.nextCommit = fate
			first()
		})
		expect(await ask(tenant, ...create)).toMatchObject(withKey)
		const again = await ask(tenant, ...create)
		expect(again.status).toBe(201)
		expect(again.headers.get('idempotent-replayed')).toBe(isStored ? 'true' : null)
		const { data } = (await tenant.ask('GET', '/webhooks/endpoints')).body
		expect(data.map(({ id }: { id: string }) => id)).toEqual([again.body.id])
	})

	it('shows on a page as what it is', async () => {
		const tenant = await server.newTenant()
		const { id } = (await tenant.ask('POST', '/api/invoices', { body: { status: 'sent', totalCents: 100 } })).body
		const { url } = (await tenant.ask('POST', `/api/invoices/${id}/client-link`)).body
		proxy.nextCommit = fate
		const page = await fetch(`${through.url}${new URL(url).pathname}/pay`, { method: 'POST', redirect: 'manual' })
		expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('We do not know whether it was done')])
	})
})
