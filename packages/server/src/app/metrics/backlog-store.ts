// What waits to be done. Nothing here counts to the end of a long queue, and no scrape runs a query (backlog.ts).
import { type Db, query } from '../../platform/db/database.ts'
import { isFree } from '../../platform/events/fan-out-store.ts'
import { due } from '../../platform/work/jobs-store.ts'

/** Deliveries of an endpoint, and jobs, are counted up to this. */
const countedUpTo = 1_000
const endpointsAtOnce = 100

interface EndpointKey {
	readonly organizationId: string
	readonly id: string
}

export interface EndpointBacklog extends EndpointKey {
	/** Deliveries that are due and that no engine has claimed. */
	readonly due: number
	/** Since when the oldest of them is due. */
	readonly dueSince: number | null
}

const endpoints = query<{ now: number } & Partial<EndpointKey>, EndpointBacklog>((knex, { now, organizationId, id }) => {
	const due = () =>
		knex('webhook_deliveries as d')
			.whereRaw('d."organizationId" = p."organizationId" and d."endpointId" = p.id and d."nextAttemptAt" is not null')
			.where('d.nextAttemptAt', '<=', now)
			.whereRaw(isFree, [now])
	const first = due().select('d.nextAttemptAt').orderBy('d.nextAttemptAt').limit(1, { skipBinding: true })
	const some = due().select(knex.raw('1')).limit(countedUpTo, { skipBinding: true })
	const rows = knex('webhook_endpoints as p')
		.select('p.organizationId', 'p.id')
		.select(knex.raw('(?) as "dueSince"', [first]), knex.raw('(select count(*) from (?) as part) as "due"', [some]))
		.orderBy(['p.organizationId', 'p.id'])
		.limit(endpointsAtOnce, { skipBinding: true })
	return id === undefined ? rows : rows.whereRaw('(p."organizationId", p.id) > (?, ?)', [organizationId as never, id])
})

/** What waits at the next endpoints, in the order of their keys; each costs two looks into an index. */
export const readEndpointBacklogs = async (db: Db, now: number, after: EndpointKey | undefined) => {
	const rows = await db.all(endpoints, { now, ...(after && { organizationId: after.organizationId, id: after.id }) })
	return { rows, next: rows.length < endpointsAtOnce ? undefined : rows.at(-1) }
}

const jobs = query<{ now: number }, { dueSince: number | null; due: number }>((knex, { now }) => {
	const some = knex('jobs').whereRaw(`${due} <= ?`, [now]).orderByRaw(due).limit(countedUpTo, { skipBinding: true })
	return knex
		.from(some.select(knex.raw(`${due} as "at"`)).as('part'))
		.select(knex.raw('count(*) as "due"'), knex.raw('min("at") as "dueSince"'))
})

export const readJobBacklog = (db: Db, now: number) => db.get(jobs, { now })
