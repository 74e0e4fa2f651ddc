// Every address of routes.ts, with a record of the demo in the place of each id.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagesIn } from '../budget.ts'
import type { App } from './app.ts'

export const addresses = pagesIn(readFileSync(join(import.meta.dirname, '../src/routes.ts'), 'utf8')).map(({ path }) => path)

/** Of whoever has not signed in. */
export const outside = ['/sign-in', '/setup', '/invite', '/reset']

/** An address with the ids of records; those are of each kind, by the part of the path before them. */
export const fill = (path: string, ids: Readonly<Record<string, string>>): string =>
	path.replaceAll(/\/([\w-]+)\/\$\w+/g, (_, kind: string) => `/${kind}/${ids[kind]}`)

/** A record of each kind, for the addresses that name one. */
export async function recordsOf(app: App): Promise<Readonly<Record<string, string>>> {
	const ids: Record<string, string> = {}
	const { companies, contacts, timeEntries, taxRates, pipelines, invoices } = app.client
	ids.companies = (await companies.list({ limit: 1 })).data[0]?.id as string
	ids.contacts = (await contacts.list({ limit: 1 })).data[0]?.id as string
	ids.pipelines = (await pipelines.list({ limit: 1 })).data[0]?.id as string
	ids['tax-rates'] = (await taxRates.list({ limit: 1 })).data[0]?.id as string
	// Of the deal that has time.
	const [entry] = (await timeEntries.list({ limit: 1, status: 'open' })).data
	ids.time = entry?.id as string
	ids.deals = entry?.dealId as string
	await addWebhooks(app, ids)
	await findSync(app, ids)
	ids.invoices = (await invoices.list({ status: ['sent'], limit: 1 })).data[0]?.id as string
	return ids
}

/** An endpoint that nobody answers at, and a delivery to it. */
async function addWebhooks({ client, url }: App, ids: Record<string, string>): Promise<void> {
	ids.endpoints = (
		await client.webhooks.endpoints.create({ url: `${url}/nobody`, eventTypes: ['invoice.*', 'company.created'] })
	).id
	ids.deliveries = (await client.webhooks.endpoints.test(ids.endpoints)).id
	ids['event-types'] = 'invoice-paid'
}

/** The demo's sync, and its first run. */
async function findSync({ client }: App, ids: Record<string, string>): Promise<void> {
	const [sync] = (await client.syncs.list({ limit: 1 })).data
	Object.assign(ids, { syncs: sync?.id, runs: sync?.lastRun?.id, connections: sync?.connectionId, mappings: sync?.mappingId })
}
