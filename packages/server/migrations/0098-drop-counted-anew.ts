import type { Knex } from 'knex'

/** No server reads the index. */
export const needs = 0
export const inTransaction = false

/** What 0096 alone needed. Its lock keeps writers out, and a drop under it would wait for every reader, too. */
export async function up(knex: Knex, online: boolean): Promise<void> {
	await knex.raw(`drop index ${online ? 'concurrently' : ''} if exists invoices_counted_anew`)
}
