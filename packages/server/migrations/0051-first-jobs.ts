import type { Knex } from 'knex'

/** Jobs for what the sweeps of older versions looked for. Each finds by itself when it is due next. */
export async function up(knex: Knex): Promise<void> {
	await knex.raw('create index jobs_leased on jobs ("leaseUntil") where "leaseUntil" is not null')
	const now = Date.now()
	const add = (kind: string, resourceId: string, rows: string) =>
		knex.raw(
			`insert into jobs ("organizationId", kind, "resourceId", "dueAt")
			select "organizationId", ?, ${resourceId}, cast(? as bigint) from ${rows} on conflict do nothing`,
			[kind, now],
		)
	const having = (table: string, which: string) =>
		`organizations o where exists (select 1 from ${table} r where r."organizationId" = o."organizationId" ${which})`
	await add('overdue', `''`, having('invoices', `and r.status = 'sent' and r."dueDate" is not null`))
	await add('keptAnswers', `''`, having('idempotency_keys', ''))
	await add('retention', `''`, having('events', ''))
	await add('closeLink', 'id', `payment_links where status = 'closing'`)
}
