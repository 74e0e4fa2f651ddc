// Makes jobs that are missing: on PostgreSQL a server of an older version, which runs beside newer ones during an upgrade, writes no jobs.
import { type Db, query } from '../../platform/db/database.ts'
import type { JobHandler } from '../../platform/work/jobs.ts'
import { jobKinds } from '../../platform/work/kinds.ts'

/** Organizations that one run looks at, and how long it rests: what it costs does not follow how many there are. */
const batch = 500
const restMs = 60_000

const nextEnd = query<{ after: string }, { last: string | null }>((knex, { after }) =>
	knex
		.from(
			knex('organizations')
				.where('organizationId', '>', after)
				.orderBy('organizationId')
				.limit(batch, { skipBinding: true })
				.select('organizationId')
				.as('part'),
		)
		.max({ last: 'organizationId' }),
)

interface Part {
	readonly after: string
	readonly upTo: string
	readonly now: number
}

/** Jobs of a whole organization, by what makes one due. */
const missing = [
	[jobKinds.overdue, `invoices r where r.status = 'sent' and r."dueDate" is not null`],
	[jobKinds.keptAnswers, 'idempotency_keys r where true'],
].map(([kind, rows]) =>
	query<Part>((knex, { after, upTo, now }) =>
		knex.raw(
			`insert into jobs ("organizationId", kind, "resourceId", "dueAt")
			select "organizationId", '${kind}', '', cast(? as bigint) from organizations o
			where "organizationId" > ? and "organizationId" <= ?
			and exists (select 1 from ${rows} and r."organizationId" = o."organizationId")
			on conflict do nothing`,
			[now, after, upTo],
		),
	),
)

const closing = query<{ now: number }>((knex, { now }) =>
	knex.raw(
		`insert into jobs ("organizationId", kind, "resourceId", "dueAt")
		select "organizationId", '${jobKinds.closeLink}', id, cast(? as bigint) from payment_links where status = 'closing'
		on conflict do nothing`,
		[now],
	),
)

/** Looks at the next organizations in each run. */
export const repairJobs: JobHandler = async (job) => {
	const { now, checkpoint } = job
	const after = checkpoint ?? ''
	const last = await job.part((tx) => repairPart(tx, after, now), { durable: false })
	return { dueAt: now + restMs, ...(last !== null && { checkpoint: last }) }
}

async function repairPart(db: Db, after: string, now: number): Promise<string | null> {
	const upTo = (await db.get(nextEnd, { after }))?.last ?? null
	await db.run(closing, { now })
	if (upTo !== null) for (const one of missing) await db.run(one, { after, upTo, now })
	return upTo
}
