import type { Knex } from 'knex'

/** Payments of which something is on no invoice: mostly few among very many, in the order of their list. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('create index payments_available on payments ("organizationId", "createdAt", id) where "availableCents" > 0')
}
