import type { Knex } from 'knex'

/**
 * Lists show and count live contacts and deals: an index that knows which are counts them without the table. Not a partial one, since
 * SQLite would still look at each row, and a pipeline stays for its deleted deals.
 */
const indexes: Record<string, readonly string[]> = {
	contacts_by_creation: ['createdAt', 'id'],
	contacts_by_company: ['companyId', 'createdAt', 'id'],
	deals_by_creation: ['createdAt', 'id'],
	deals_by_company: ['companyId', 'createdAt', 'id'],
	deals_by_contact: ['contactId', 'createdAt', 'id'],
	deals_by_pipeline: ['pipelineId', 'createdAt', 'id'],
	deals_by_stage: ['stage', 'createdAt', 'id'],
}

export async function up(knex: Knex): Promise<void> {
	for (const [name, columns] of Object.entries(indexes)) {
		const list = ['organizationId', ...columns, 'deletedAt'].map((column) => `"${column}"`).join(', ')
		await knex.raw('drop index ??', [name])
		await knex.raw(`create index ?? on ?? (${list})`, [name, name.split('_by_')[0] as string])
	}
}
