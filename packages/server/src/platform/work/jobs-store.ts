// The rows of jobs. A job without a lease is due at `dueAt`. A worker takes it under a lease, `leaseUntil`, which is its token: what
// the worker writes counts only while the row has it. Taking clears `dueAt`, so that whoever makes the job due while it runs is seen:
// it then runs again. A worker that dies loses nothing, since the job is due again when its lease ends.
import type { Knex } from 'knex'
import { asNumber, type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import { waitingKinds } from './kinds.ts'

export interface JobKey {
	/** '' for a job of the server. */
	readonly organizationId: string
	readonly kind: string
	/** '' when there is one job of the kind. */
	readonly resourceId: string
}

/** A job as a worker has it. */
export interface Lease extends JobKey {
	readonly leaseUntil: number
	/** 1 for the first attempt since the last success. */
	readonly attempt: number
	/** What the run before noted. */
	readonly checkpoint: string | null
}

export interface JobRow extends Omit<Lease, 'leaseUntil'> {
	readonly dueAt: number | null
	readonly leaseUntil: number | null
	readonly lastError: string | null
}

const key = ['organizationId', 'kind', 'resourceId'] as const
const keyOf = ({ organizationId, kind, resourceId }: JobKey) => ({ organizationId, kind, resourceId })

/** When a worker may take the job, as the index has it. */
export const due = `coalesce("leaseUntil", "dueAt")`
const earlier = (one: string, other: string, dialect: Dialect) => `${dialect === 'sqlite' ? 'min' : 'least'}(${one}, ${other})`

const schedule = query<JobKey & { dueAt: number }>((knex, row, dialect) =>
	knex('jobs')
		.insert(row)
		.onConflict([...key])
		.merge({ dueAt: knex.raw(earlier('coalesce(jobs."dueAt", excluded."dueAt")', 'excluded."dueAt"', dialect)) }),
)

/** Makes a job due, in the transaction of what makes it due; one that is due earlier stays so. */
export const scheduleJob = (db: Db, job: JobKey & { dueAt: number }) => db.run(schedule, job)

interface NewJobs extends Omit<JobKey, 'resourceId'> {
	readonly resourceIds: readonly string[]
	readonly dueAt: number
}

const insert = query<NewJobs>((knex, { organizationId, kind, resourceIds, dueAt }, dialect) => {
	const ids =
		dialect === 'sqlite' ? 'value from json_each(?)' : 'value from jsonb_array_elements_text(cast(? as jsonb)) as ids(value)'
	const text = dialect === 'sqlite' ? '?' : 'cast(? as text)'
	// "where true": SQLite would take "on" for that of a join.
	return knex.raw(
		`insert into jobs ("organizationId", kind, "resourceId", "dueAt") select ${text}, ${text}, value, cast(? as bigint)
		from (select ${ids}) as ids where true on conflict do nothing`,
		[organizationId, kind, dueAt, resourceIds],
	)
})

/** Makes jobs due, but those that there are, whenever they are due. Waits for nobody who has such a row. */
export const ensureJobs = (db: Db, jobs: NewJobs) => db.run(insert, jobs)

interface Look {
	readonly now: number
	readonly kinds: readonly string[]
	/** Organizations that have no room. */
	readonly without: readonly string[]
}

/** Due jobs in the order of the index. PostgreSQL would read all jobs for a question without order, and for an "in" with a list. */
function dueJobs(knex: Knex, { now, kinds, without }: Placeholders<Look>, dialect: Dialect): Knex.QueryBuilder {
	const has = (column: string) =>
		dialect === 'sqlite' ? `"${column}" in (select value from json_each(?))` : `cast(? as jsonb) \\? "${column}"`
	return knex('jobs')
		.whereRaw(`${due} <= ${dialect === 'sqlite' ? '+?' : '?'}`, [now])
		.whereRaw(has('kind'), [kinds])
		.whereRaw(`not (${has('organizationId')})`, [without])
		.orderByRaw(due)
}

const isDue = query<Look, { kind: string }>((knex, look, dialect) =>
	dueJobs(knex, look, dialect).select('kind').limit(1, { skipBinding: true }),
)

/** Whether a job is due: one look into an index, however many jobs there are. */
export const isAnyJobDue = async (db: Db, look: Look): Promise<boolean> => (await db.get(isDue, look)) !== undefined

const take = query<Look & { leaseUntil: number; limit: number }, Lease>((knex, { leaseUntil, limit, ...look }, dialect) => {
	const next = dueJobs(knex, look, dialect)
		.limit(asNumber(limit))
		.select([...key])
	const part = dialect === 'sqlite' ? next : next.forUpdate().skipLocked()
	return knex.raw(
		`with part as ${dialect === 'sqlite' ? '' : 'materialized'} ?
			update jobs set "leaseUntil" = ?, "dueAt" = null, attempt = attempt + 1,
				"lastError" = case when "leaseUntil" is null then "lastError" else 'Its worker ended before the job did.' end
			where ("organizationId", kind, "resourceId") in (select "organizationId", kind, "resourceId" from part)
			returning "organizationId", kind, "resourceId", "leaseUntil", attempt, checkpoint`,
		[part as never, leaseUntil],
	)
})

/** Takes due jobs under a lease, those first that have been due for longest. */
export const takeJobs = (db: Db, limit: number, leaseUntil: number, look: Look) => db.all(take, { ...look, leaseUntil, limit })

const held = query<JobKey & { leaseUntil: number; until: number; checkpoint?: string | null }>(
	(knex, { until, checkpoint, ...lease }) =>
		knex('jobs')
			.where(lease)
			.update({ leaseUntil: until, ...(checkpoint !== undefined && { checkpoint }) }),
)

/** Prolongs a lease, and notes how far the job is; false when the job is another worker's by now. */
export const renewJob = async (db: Db, { leaseUntil, ...lease }: Lease, until: number, checkpoint?: string): Promise<boolean> =>
	(await db.run(held, { ...keyOf(lease), leaseUntil, until, ...(checkpoint !== undefined && { checkpoint }) })) === 1

interface End {
	/** When the job is due again; null when it is not. */
	readonly dueAt: number | null
	readonly attempt: number
	readonly checkpoint: string | null
	readonly lastError: string | null
}

const end = query<JobKey & End & { leaseUntil: number }>((knex, { dueAt, attempt, checkpoint, lastError, ...lease }, dialect) =>
	knex('jobs')
		.where(lease)
		.update({
			leaseUntil: null,
			dueAt: knex.raw(earlier(`coalesce("dueAt", cast(? as bigint))`, `coalesce(cast(? as bigint), "dueAt")`, dialect), [
				dueAt,
				dueAt,
			]),
			attempt,
			checkpoint,
			lastError,
		}),
)

const remove = query<JobKey>((knex, job) => knex('jobs').where(job).whereNull('dueAt').whereNull('leaseUntil').delete())

/** Gives a job back with its result. It is due at the earlier of its own time and of what made it due meanwhile. */
export async function endJob(db: Db, { leaseUntil, ...lease }: Lease, result: End): Promise<boolean> {
	const isHeld = (await db.run(end, { ...keyOf(lease), leaseUntil, ...result })) === 1
	if (isHeld && result.dueAt === null) await db.run(remove, keyOf(lease))
	return isHeld
}

const release = query<{ now: number; after: number }>((knex, { now, after }) =>
	knex('jobs').where('leaseUntil', '>', after).update({ leaseUntil: null, dueAt: now }),
)

/** Ends the leases that end after a time: all, or those of workers that took them before the clock was set back. */
export const releaseJobs = (db: Db, now: number, after: number) => db.run(release, { now, after })

/** Rows that are changed together: on SQLite every other writer waits for them. */
export const hastenedTogether = 500

const hasten = query<{ now: number; after: number }>((knex, { now, after }, dialect) => {
	const part = knex('jobs')
		.whereRaw(`kind in (${waitingKinds.map((kind) => `'${kind}'`).join(', ')})`)
		.whereNull('leaseUntil')
		.where('dueAt', '>', after)
		.orderBy('dueAt')
		.limit(hastenedTogether, { skipBinding: true })
		.select([...key])
	return knex.raw(
		`with part as ${dialect === 'sqlite' ? '' : 'materialized'} ?
			update jobs set "dueAt" = ? where ("organizationId", kind, "resourceId") in (select "organizationId", kind, "resourceId" from part)
			and "leaseUntil" is null`,
		[part as never, now],
	)
})

/** Makes jobs due now that wait until after a time; returns their number. */
export const hastenJobs = (db: Db, now: number, after: number) => db.run(hasten, { now, after })

type Filter = Partial<Pick<JobKey, 'organizationId' | 'kind'>>

const list = query<Filter & { limit: number; isFailed?: true }, JobRow>((knex, { limit, isFailed, ...filter }) => {
	const rows = knex('jobs').where(filter)
	if (isFailed !== undefined) rows.whereNotNull('lastError')
	return rows
		.orderByRaw(due)
		.orderBy([...key])
		.limit(asNumber(limit))
		.select(...key, 'dueAt', 'leaseUntil', 'attempt', 'checkpoint', 'lastError')
})

/** Jobs, those first that are due first. */
export const listJobs = (db: Db, filter: Filter & { isFailed?: true }, limit: number) => db.all(list, { ...filter, limit })

const retry = query<Filter & { now: number; resourceId?: string }>((knex, { now, ...filter }) =>
	knex('jobs').where(filter).whereNotNull('lastError').whereNull('leaseUntil').update({ dueAt: now }),
)

/** Makes jobs due now whose last attempt failed; returns their number. */
export const retryJobs = (db: Db, filter: Filter & { resourceId?: string }, now: number) => db.run(retry, { ...filter, now })
