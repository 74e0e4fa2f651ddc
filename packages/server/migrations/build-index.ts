import type { Knex } from 'knex'

/**
 * Builds an index while servers read and write the table; the migration exports `inTransaction = false`, and passes `online` on.
 * `definition` begins with `on`, such as `on invoices ("organizationId", "dueDate")`.
 */
export async function buildIndex(knex: Knex, online: boolean, name: string, definition: string): Promise<void> {
	if (!online) return void (await knex.raw(`create index "${name}" ${definition}`))
	// One whose building was broken off is there, costs every write, and is never read.
	await knex.raw(`drop index concurrently if exists "${name}"`)
	await knex.raw(`create index concurrently "${name}" ${definition}`)
}
