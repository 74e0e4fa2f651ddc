import type { Knex } from 'knex'

/** Companies are found by what identifies them elsewhere. A company without such a value costs no entry. */
export async function up(knex: Knex): Promise<void> {
	for (const [name, column] of [
		['companies_by_domain', 'domain'],
		['companies_by_vat_id', 'vatId'],
		['companies_by_billing_email', 'billingEmail'],
	] as const) {
		const columns = ['organizationId', column, 'createdAt', 'id']
		await knex.raw(`create index ?? on companies (??, ??, ??, ??) where "deletedAt" is null and ?? is not null`, [
			name,
			...columns,
			column,
		])
	}
}
