// Time entries of a deal, invoices from them, and the state that a rejected request must not change.

import { createTimeEntry } from '../src/billing/time-entries/store.ts'
import type { TimeEntriesInvoice, TimeEntry, TimeEntryCreate } from '../src/generated/contract.ts'
import { query } from '../src/platform/db/database.ts'
import { eventsOf } from './events.ts'
import type { Tenant, TestServer } from './harness.ts'

/** Creates entries: each of an hour, a minute after each other, unless the entry says otherwise. */
export function work(
	{ db, clock }: TestServer,
	{ writing }: Tenant,
	dealId: string,
	...entries: Partial<TimeEntryCreate>[]
): Promise<string[]> {
	return db.transaction(async (tx) => {
		const ids: string[] = []
		for (const [index, entry] of entries.entries()) {
			const written = { dealId, startedAt: clock.now + index * 60_000, durationSeconds: 3600, ...entry }
			ids.push((await createTimeEntry(writing(tx), written)).id)
		}
		return ids
	})
}

export const invoiceTime = ({ ask }: Tenant, body: Partial<TimeEntriesInvoice>) =>
	ask('POST', '/api/invoices/from-time-entries', { body })

export const readEntry = async ({ ask }: Tenant, id: string): Promise<TimeEntry> =>
	(await ask('GET', `/api/time-entries/${id}`)).body.data

/** The invoice of each entry; null for an open entry. */
export const invoicesOf = async (tenant: Tenant, ids: readonly string[]) =>
	Promise.all(ids.map(async (id) => (await readEntry(tenant, id)).invoiceId))

const counter = query<{ organizationId: string }, { nextInvoiceNumber: number }>((knex, key) =>
	knex('organizations').where(key).select('nextInvoiceNumber'),
)

/** Everything of an organization that invoicing time can write. */
export async function stateOf(server: TestServer, tenant: Tenant) {
	const [invoices, entries, rates] = await Promise.all(
		['invoices', 'time-entries', 'tax-rates'].map((path) => tenant.ask('GET', `/api/${path}?limit=100`)),
	)
	return {
		invoices: invoices?.body.data,
		entries: entries?.body.data,
		rates: rates?.body.data,
		nextInvoiceNumber: (await server.db.get(counter, { organizationId: tenant.organizationId }))?.nextInvoiceNumber,
		events: (await eventsOf(server, tenant)).length,
	}
}
