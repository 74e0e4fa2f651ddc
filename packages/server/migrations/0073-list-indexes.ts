import type { Knex } from 'knex'

/**
 * Lists by two filters, each of which may have many records and both together few: without an index of both, a page reads all that one
 * of them has. Others, such as the deals of a contact, are few by one filter.
 */
const indexes: Record<string, readonly string[]> = {
	invoices_by_company_and_status: ['companyId', 'status', 'createdAt', 'id'],
	invoices_by_deal_and_status: ['dealId', 'status', 'createdAt', 'id'],
	deals_by_pipeline_and_stage: ['pipelineId', 'stage', 'createdAt', 'id', 'deletedAt'],
	payments_by_company_and_status: ['companyId', 'status', 'createdAt', 'id'],
	payments_by_company_and_source: ['companyId', 'source', 'createdAt', 'id'],
	payments_by_status_and_source: ['status', 'source', 'createdAt', 'id'],
	time_entries_by_deal_and_status: ['dealId', 'status', 'startedAt', 'id'],
	webhook_deliveries_by_endpoint_and_status: ['endpointId', 'status', 'id'],
	webhook_deliveries_by_type_and_status: ['eventType', 'status', 'id'],
	number_skips_by_number: ['series', 'firstNumber', 'lastNumber'],
}

export async function up(knex: Knex): Promise<void> {
	for (const [name, columns] of Object.entries(indexes)) {
		const list = ['organizationId', ...columns].map((column) => `"${column}"`).join(', ')
		await knex.raw(`create index ?? on ?? (${list})`, [name, name.split('_by_')[0] as string])
	}
	// The index by endpoint and status has what this one has.
	await knex.raw('drop index webhook_deliveries_retrying')
	// The numbers of a series with as many digits, in their order: by bytes.
	const bytes = knex.client.config.client === 'better-sqlite3' ? '' : ' collate "C"'
	for (const table of ['invoices', 'invoice_tombstones'])
		await knex.raw(
			`create index ${table}_by_length_and_number on ${table} ("organizationId", length("invoiceNumber"), "invoiceNumber"${bytes})`,
		)
}
