import type { Knex } from 'knex'
import { buildIndex } from './build-index.ts'

/** It only adds. */
export const needs = 0
export const inTransaction = false

const settled = '"amountPaidCents" + "amountCreditedCents"'
const isCovered = `(("totalCents" > 0 and ${settled} >= "totalCents") or ("totalCents" < 0 and ${settled} <= "totalCents"))`

/** As the lists of invoices ask for it: a database takes the index for the same words alone. */
export const isOutstanding = `(status not in ('draft', 'cancelled') and "totalCents" <> 0 and not ${isCovered})`

/** Of what the sums of before (0081) said something else: a status `paid` hid what is owed, and a total of 0 was counted. */
export const isCountedAnew = `(status not in ('draft', 'cancelled') and (("totalCents" = 0 and status <> 'paid') or
	(status = 'paid' and "totalCents" <> 0 and not ${isCovered})))`

/** Invoices of which something is owed, by their due day; and for the next migration the few that the sums count anew; 0098 drops that index. */
export async function up(knex: Knex, online: boolean): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	const others = 'status, "totalCents", "amountPaidCents", "amountCreditedCents"'
	const columns = sqlite
		? `("organizationId", "dueDate", id, ${others})`
		: `("organizationId", "dueDate", id) include (${others})`
	await buildIndex(knex, online, 'invoices_outstanding', `on invoices ${columns} where ${isOutstanding}`)
	await buildIndex(knex, online, 'invoices_counted_anew', `on invoices (id) where ${isCountedAnew}`)
}
