// A queue to be delivered: invoices with their events, and for every endpoint a delivery of each; written through Remit's own
// stores before a server delivers.
import { randomBytes } from 'node:crypto'
import { bySystem } from '../../server/src/base/origin.ts'
import { createCompany } from '../../server/src/companies/store.ts'
import { type Database, query } from '../../server/src/db/database.ts'
import { readEvents } from '../../server/src/events/store.ts'
import { createInvoice } from '../../server/src/invoices/write.ts'
import { requireOrganization } from '../../server/src/organizations/store.ts'
import { openSecrets } from '../../server/src/outside/secrets.ts'
import { skipWaiting } from '../../server/src/webhooks/delivery-store.ts'
import { createEndpoint, endpoints } from '../../server/src/webhooks/endpoint-store.ts'
import { companyOf } from '../names.ts'
import { writtenInvoice } from './invoice.ts'
import type { Urls } from './receiver.ts'

/** What the servers open the endpoints' secrets with, and where they may send to. */
export const settings = { ENCRYPTION_KEYS: randomBytes(32).toString('base64'), EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }

export const healthyCount = 4

/** Endpoints that subscribe to new invoices: in this order the healthy ones, one that fails and one that hangs. */
export async function addEndpoints(db: Database, organizationId: string, urls: readonly string[]): Promise<void> {
	const secrets = openSecrets({ ...settings, DATA_DIR: '' })
	await db.transaction(async (tx) => {
		const write = { db: tx, origin: bySystem(Date.now()), organization: await requireOrganization(tx, organizationId) }
		for (const url of urls) await createEndpoint(write, secrets, { url, eventTypes: ['invoice.created'] })
	})
}

/** Returns the text of one of the events. */
export async function fillQueue(db: Database, organizationId: string, urls: Urls, count: number): Promise<string> {
	await addEndpoints(db, organizationId, [...Array<string>(healthyCount).fill(urls.healthy), urls.failing, urls.hung])
	const begin = Date.now() - count
	await db.transaction(async (tx) => {
		const organization = await requireOrganization(tx, organizationId)
		const at = (now: number) => ({ db: tx, origin: bySystem(now), organization })
		const { id: companyId } = await createCompany(at(begin), companyOf(3))
		for (let n = 0; n < count; n++) await createInvoice(at(begin + n), { companyId, ...writtenInvoice })
	})
	const { rows } = await readEvents(db, { organizationId, type: 'invoice.created' }, { limit: 1, offset: 0, after: 0 })
	return rows[0] as string
}

const unhealthy = query<{ urls: readonly string[] }, { organizationId: string; id: string }>((knex, { urls }, dialect) => {
	const list = dialect === 'sqlite' ? 'select value from json_each(?)' : 'select jsonb_array_elements_text(?::jsonb)'
	return knex('webhook_endpoints')
		.whereRaw(`url in (${list})`, [urls as never])
		.select('organizationId', 'id')
})

/** Takes the endpoints that fail and hang out of the queue. */
export async function keepHealthy(db: Database, { failing, hung }: Urls): Promise<void> {
	const now = Date.now()
	await db.transaction(async (tx) => {
		for (const { organizationId, id } of await tx.all(unhealthy, { urls: [failing, hung] })) {
			const endpoint = await endpoints.lock(tx, organizationId, id)
			if (endpoint) await skipWaiting(tx, await endpoints.update(tx, endpoint, { status: 'paused' }, now), now)
		}
	})
}
