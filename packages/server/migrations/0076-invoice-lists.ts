import type { Knex } from 'knex'

/** What invoices are filtered by: in each index of an order, so that a page passes over the invoices that it does not show without the table. */
const filtered = [
	...['status', 'currency', 'totalCents', 'issuedDate', 'dueDate', 'paidDate', 'createdAt', 'updatedAt', 'companyId', 'dealId'],
	...['amountPaidCents', 'amountCreditedCents'],
]

/** An index for each order of the list of invoices. A sort key is never null: an invoice without the date has one beyond all dates. */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	const name = '"invoiceNumber"'
	const text = `rtrim(${name}, '0123456789')`
	const digits = `ltrim(substr(${name}, length(${text}) + 1), '0')`
	const character = sqlite ? 'char' : 'chr'
	// The text before the number, then how many digits the number has, then the digits.
	const number = `${text} || ${character}(1) || ${character}(47 + length(${digits})) || ${digits}`
	const keys: Record<string, string> = {
		creation: '"createdAt"',
		issue: `coalesce("issuedDate", ${2 ** 53 - 1})`,
		due: `coalesce("dueDate", ${2 ** 53 - 1})`,
		total: '"totalCents"',
		number: sqlite ? number : `(${number}) collate "C"`,
	}
	await knex.raw('drop index invoices_by_creation')
	for (const [by, key] of Object.entries(keys)) {
		const others = filtered.map((column) => `"${column}"`).filter((column) => column !== key)
		// PostgreSQL makes no key of an expression without its column.
		if (by === 'number' && !sqlite) others.push(name)
		const columns = others.join(', ')
		const keyed = key.startsWith('"') ? key : `(${key})`
		await knex.raw(
			sqlite
				? `create index invoices_by_${by} on invoices ("organizationId", ${key}, id, ${columns})`
				: `create index invoices_by_${by} on invoices ("organizationId", ${keyed}, id) include (${columns})`,
		)
	}
	await knex.raw('create index invoices_by_update on invoices ("organizationId", "updatedAt", id)')
	await knex.raw('create index invoices_by_payment on invoices ("organizationId", "paidDate", id) where "paidDate" is not null')
}
