// Writes a queue of deliveries through Remit's own stores, before a server delivers it: invoices, their events, and a delivery of
// each event to each endpoint.
import { randomBytes } from 'node:crypto'
import { requireOrganization } from '../../server/src/accounts/organizations/store.ts'
import { createCompany } from '../../server/src/billing/companies/store.ts'
import { createInvoice } from '../../server/src/billing/invoices/write.ts'
import { endWaiting } from '../../server/src/integration/webhooks/backlog-store.ts'
import { createEndpoint, endpoints, hostOf } from '../../server/src/integration/webhooks/endpoint-store.ts'
import { workOffBacklogs } from '../../server/src/integration/webhooks/engine/backlogs.ts'
import { proveHosts } from '../../server/src/integration/webhooks/engine/host-store.ts'
import { bySystem } from '../../server/src/platform/base/origin.ts'
import { type Database, query } from '../../server/src/platform/db/database.ts'
import { withoutOrder, writingIn } from '../../server/src/platform/db/write-context.ts'
import { readEvents } from '../../server/src/platform/events/feed-store.ts'
import { openSecrets } from '../../server/src/platform/outside/secrets.ts'
import { companyOf } from '../names.ts'
import { writtenInvoice } from './invoice.ts'
import type { Urls } from './receiver.ts'

/** The key of the endpoints' secrets, the addresses to which the servers may send, and no limit of attempts to one host. */
export const settings = {
	ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
	EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
	WEBHOOK_HOST_RATE: '0',
}

export const healthyCount = 4

/** Adds an endpoint for each URL, which subscribes to new invoices. */
export async function addEndpoints(db: Database, organizationId: string, urls: readonly string[]): Promise<void> {
	const secrets = openSecrets({ ...settings, DATA_DIR: '' })
	await db.transaction(async (tx) => {
		const write = await writingIn(tx, bySystem(Date.now()), await requireOrganization(tx, organizationId))
		for (const url of urls) {
			await createEndpoint(write, secrets, { url, eventTypes: ['invoice.created'] })
			await proveHosts(tx, new Map([[hostOf(url), ['127.0.0.1/32']]]), Date.now())
		}
	})
}

/** Adds the healthy endpoints, one that fails and one that hangs, and `count` events; returns the JSON text of one event. */
export async function fillQueue(db: Database, organizationId: string, urls: Urls, count: number): Promise<string> {
	await addEndpoints(db, organizationId, [...Array<string>(healthyCount).fill(urls.healthy), urls.failing, urls.hung])
	const begin = Date.now() - count
	await db.transaction(async (tx) => {
		const organization = await requireOrganization(tx, organizationId)
		const at = (now: number) => ({ db: tx, origin: withoutOrder(bySystem(now)), organization })
		const { id: companyId } = await createCompany(at(begin), companyOf(3))
		for (let n = 0; n < count; n++) await createInvoice(at(begin + n), { companyId, ...writtenInvoice })
	})
	const { rows } = await readEvents(db, { organizationId, type: 'invoice.created' }, { limit: 1, offset: 0, after: 0 })
	for await (const row of rows) return row
	throw new Error('there is no event')
}

const unhealthy = query<{ urls: readonly string[] }, { organizationId: string; id: string }>((knex, { urls }, dialect) => {
	const list = dialect === 'sqlite' ? 'select value from json_each(?)' : 'select jsonb_array_elements_text(?::jsonb)'
	return knex('webhook_endpoints')
		.whereRaw(`url in (${list})`, [urls as never])
		.select('organizationId', 'id')
})

/** Pauses the endpoints that fail and hang, and skips their deliveries. */
export async function keepHealthy(db: Database, { failing, hung }: Urls): Promise<void> {
	const now = Date.now()
	await db.transaction(async (tx) => {
		for (const { organizationId, id } of await tx.all(unhealthy, { urls: [failing, hung] })) {
			const endpoint = await endpoints.lock(tx, organizationId, id)
			if (!endpoint) continue
			const paused = await endpoints.update({ db: tx, origin: bySystem(now) }, endpoint, { status: 'paused' })
			await endWaiting(tx, paused, 'skipped', now)
		}
	})
	await workOffBacklogs(db, Date.now)
}
