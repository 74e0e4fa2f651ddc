import type { Knex } from 'knex'
import { buildIndex } from './build-index.ts'

/** Every query that an index served before, it serves still. */
export const needs = 0
export const inTransaction = false

/** By table: the columns of each index behind the organization, and the one without which a row is not in it. */
const indexes = {
	invoices: {
		invoices_by_company: [['companyId', 'createdAt', 'id'], 'companyId'],
		invoices_by_company_and_status: [['companyId', 'status', 'createdAt', 'id'], 'companyId'],
		invoices_by_deal: [['dealId', 'createdAt', 'id'], 'dealId'],
		invoices_by_deal_and_status: [['dealId', 'status', 'createdAt', 'id'], 'dealId'],
	},
	events: {
		events_by_place: [['place'], 'place'],
		events_by_type: [['type', 'place'], 'place'],
	},
} as const

/**
 * An event has its place when the feed is read, and most invoices have no deal: until then, and without one, a row is left out of the indexes that
 * are looked into by these. On PostgreSQL, where they are a quarter of what a new invoice writes; SQLite tells a query which index to take.
 */
export async function up(knex: Knex, online: boolean): Promise<void> {
	if (knex.client.config.client === 'better-sqlite3') return
	for (const [table, ofTable] of Object.entries(indexes))
		for (const [name, [columns, present]] of Object.entries(ofTable)) {
			const list = ['organizationId', ...columns].map((column) => `"${column}"`).join(', ')
			const next = `${name}_new`
			await buildIndex(knex, online, next, `on ${table} (${list}) where "${present}" is not null`)
			await knex.raw(`drop index ${online ? 'concurrently' : ''} if exists ${name}`)
			await knex.raw(`alter index ${next} rename to ${name}`)
		}
}
