// Removes runs that ended long ago, but each sync's last one; errors that were resolved, or of which nobody will hear again; and what
// links keep of the provider's records; and the links of deleted connections.
import type { Knex } from 'knex'
import { dayMs } from '../../../platform/base/dates.ts'
import { beginningOf } from '../../../platform/base/ids.ts'
import { type Database, type Dialect, query } from '../../../platform/db/database.ts'
import type { JobHandler } from '../../../platform/work/jobs.ts'
import { inParts } from '../../../platform/work/parts.ts'

const runsKeptMs = 90 * dayMs
const seenKeptMs = 30 * dayMs
/** Rows that a part changes: on SQLite every other writer waits for it. */
const batch = 200

interface Part {
	readonly organizationId: string
	readonly before: string
}

/** As an array PostgreSQL runs the sub-select once, and not for each row. */
const isIn = (column: string, dialect: Dialect) => (dialect === 'sqlite' ? `${column} in (?)` : `${column} = any(array(?))`)

const resolvedErrors = query<Part>((knex, { organizationId, before }, dialect) => {
	const rows = knex('sync_record_errors').where({ organizationId }).whereNotNull('resolvedAt').where('runId', '<', before)
	const part = rows.clone().orderBy('runId').limit(batch, { skipBinding: true }).select('id')
	return knex('sync_record_errors').where({ organizationId }).whereRaw(isIn('id', dialect), [part]).delete()
})

/** Open errors of some syncs. The others stay: a run of failed records tries them again, however old they are. */
const openErrors = (of: (rows: Knex.QueryBuilder) => Knex.QueryBuilder) =>
	query<Part>((knex, { organizationId, before }, dialect) => {
		const rows = knex('syncs as s')
			.join('sync_record_errors as e', { 'e.organizationId': 's.organizationId', 'e.syncId': 's.id' })
			.where('s.organizationId', organizationId)
			.whereNull('e.resolvedAt')
			.where('e.runId', '<', before)
		const part = of(rows).limit(batch, { skipBinding: true }).select('e.id')
		return knex('sync_record_errors').where({ organizationId }).whereRaw(isIn('id', dialect), [part]).delete()
	})

const errorsOfDeletedSyncs = openErrors((rows) => rows.whereNotNull('s.deletedAt'))

/** A record without an id is another one when anything about it changes. */
const errorsWithoutId = openErrors((rows) =>
	rows.whereRaw(`e.direction = 'inbound' and e."recordKey" between 'unnamed-' and 'unnamed-~'`),
)

const oldRuns = query<Part>((knex, { organizationId, before }, dialect) => {
	const part = knex('sync_runs as r')
		.where({ organizationId })
		.where('id', '<', before)
		.whereNotNull('finishedAt')
		.whereRaw(
			`exists (select 1 from sync_runs later where later."organizationId" = r."organizationId" and later."syncId" = r."syncId" and later.id > r.id)`,
		)
		.orderBy('id')
		.limit(batch, { skipBinding: true })
		.select('id')
	return knex('sync_runs').where({ organizationId }).whereRaw(isIn('id', dialect), [part]).delete()
})

const oldSeen = query<{ organizationId: string; before: number }>((knex, { organizationId, before }, dialect) => {
	const part = knex('sync_links')
		.where({ organizationId })
		.where('lastSeenAt', '<', before)
		.whereNotNull('lastSeen')
		.orderBy('lastSeenAt')
		.limit(batch, { skipBinding: true })
	const row = dialect === 'sqlite' ? 'rowid' : 'ctid'
	return knex('sync_links')
		.whereRaw(isIn(row, dialect), [part.select(knex.raw(row))])
		.update({ lastSeen: null })
})

/** No sync can have a connection that was deleted, and so none its links. */
const ofDeletedConnections = (table: 'sync_links' | 'sync_ended_links') =>
	query<{ organizationId: string }>((knex, { organizationId }, dialect) => {
		const row = dialect === 'sqlite' ? 'rowid' : 'ctid'
		// Whatever has links has had a sync, whose row stays.
		const part = knex
			.from(knex('syncs').where({ organizationId }).distinct('organizationId', 'connectionId').as('s'))
			.leftJoin('connections as c', { 'c.organizationId': 's.organizationId', 'c.id': 's.connectionId' })
			.join(`${table} as l`, { 'l.organizationId': 's.organizationId', 'l.connectionId': 's.connectionId' })
			.whereNull('c.id')
			.limit(batch, { skipBinding: true })
			.select(knex.raw(`l.${row}`))
		return knex(table).whereRaw(isIn(row, dialect), [part]).delete()
	})

const linksOfDeletedConnections = ofDeletedConnections('sync_links')
const endedOfDeletedConnections = ofDeletedConnections('sync_ended_links')

const anyRun = query<{ organizationId: string }, { id: string }>((knex, key) =>
	knex('sync_runs').where(key).limit(1, { skipBinding: true }).select('id'),
)

/** The job of an organization: once a day while it has runs. */
export const removeOldRuns =
	(db: Database): JobHandler =>
	async (job) => {
		const { organizationId, signal } = job
		const before = beginningOf('run', job.now - runsKeptMs)
		const seenBefore = job.now - seenKeptMs
		// What a power cut brings back goes the next time.
		const parts = [
			() => job.part((tx) => tx.run(resolvedErrors, { organizationId, before }), { durable: false }),
			() => job.part((tx) => tx.run(errorsOfDeletedSyncs, { organizationId, before }), { durable: false }),
			() => job.part((tx) => tx.run(errorsWithoutId, { organizationId, before }), { durable: false }),
			() => job.part((tx) => tx.run(oldRuns, { organizationId, before }), { durable: false }),
			() => job.part((tx) => tx.run(linksOfDeletedConnections, { organizationId }), { durable: false }),
			() => job.part((tx) => tx.run(endedOfDeletedConnections, { organizationId }), { durable: false }),
			() => job.part((tx) => tx.run(oldSeen, { organizationId, before: seenBefore }), { durable: false }),
		]
		for (const part of parts) await inParts(async () => (await part()) === batch, signal)
		if (signal.aborted) return { dueAt: job.now }
		return (await db.get(anyRun, { organizationId })) ? { dueAt: job.now + dayMs } : undefined
	}
