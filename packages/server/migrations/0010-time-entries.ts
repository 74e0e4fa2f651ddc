import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
	const bytewise = knex.client.config.client === 'better-sqlite3' ? 'text' : 'text collate "C"'
	await knex.schema.createTable('time_entries', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', bytewise).notNullable()
		table.text('dealId').notNullable()
		table.text('userId')
		table.text('taskId')
		table.text('taskName')
		table.text('deliverableId')
		table.text('deliverableName')
		table.text('description')
		table.bigInteger('startedAt').notNullable()
		table.bigInteger('endedAt')
		table.integer('durationSeconds')
		table.boolean('billable').notNullable()
		table.bigInteger('hourlyRateCents')
		table.text('status').notNullable()
		// One column, so that an entry is on one invoice at most.
		table.text('invoiceId')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.integer('version').notNullable()
		table.primary(['organizationId', 'id'])
		table.foreign(['organizationId', 'dealId']).references(['organizationId', 'id']).inTable('deals')
		table.foreign(['organizationId', 'invoiceId']).references(['organizationId', 'id']).inTable('invoices')
		table.index(['organizationId', 'startedAt', 'id'], 'time_entries_by_start')
		table.index(['organizationId', 'dealId', 'startedAt', 'id'], 'time_entries_by_deal')
		table.index(['organizationId', 'invoiceId', 'startedAt', 'id'], 'time_entries_by_invoice')
		table.index(['organizationId', 'status', 'startedAt', 'id'], 'time_entries_by_status')
	})
}
