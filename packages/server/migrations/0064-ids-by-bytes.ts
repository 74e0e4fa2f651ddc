import type { Knex } from 'knex'

/** Ids of records, and references to them, that were not compared by bytes yet. */
const ids: Record<string, readonly string[]> = {
	client_links: ['invoiceId'],
	contacts: ['companyId'],
	deals: ['companyId', 'contactId', 'pipelineId'],
	documents: ['id', 'invoiceId'],
	erasures: ['id'],
	events: ['resourceId'],
	idempotency_keys: ['keyId'],
	invoice_tombstones: ['invoiceId'],
	invoices: ['companyId', 'dealId'],
	mails: ['id', 'resourceId'],
	number_skips: ['id', 'invoiceId'],
	payment_allocations: ['invoiceId', 'paymentId'],
	payment_links: ['id', 'invoiceId'],
	payments: ['companyId', 'invoiceId'],
	processor_events: ['eventId', 'invoiceId', 'linkId'],
	time_entries: ['dealId', 'invoiceId'],
	webhook_deliveries: ['eventId'],
}

/**
 * Where the collations of two columns differ, PostgreSQL compares them by the one that is not the database's own, and then has no use
 * for the index of the other. A new collation leaves the rows as they are; it builds anew the indexes that have the column, and forgets
 * its statistics.
 */
export async function up(knex: Knex): Promise<void> {
	if (knex.client.config.client === 'better-sqlite3') return
	const tables = Object.keys(ids)
	// At once, with what their foreign keys refer to: nobody reads a table from its change to the commit.
	await knex.raw(`do $$ begin lock table ${tables.join(', ')}, companies, pipelines, jobs in access exclusive mode; end $$`)
	for (const table of tables) {
		const changes = ids[table]?.map((column) => `alter column "${column}" type text collate "C"`)
		await knex.raw(`alter table ${table} ${changes?.join(', ')}`)
	}
	// As in every other table: in another collation, all their indexes would be built anew.
	await knex.raw('alter table jobs alter column "organizationId" type text collate "default"')
	for (const table of tables) await knex.raw(`analyze ${table} (${ids[table]?.map((column) => `"${column}"`).join(', ')})`)
}
