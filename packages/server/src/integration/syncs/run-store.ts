// The rows of runs.

import type { EventType, SyncRun } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { newTimedId } from '../../platform/base/ids.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { listOf } from '../../platform/db/list-of.ts'
import type { PageQuery } from '../../platform/db/pages.ts'
import { records } from '../../platform/db/records.ts'
import { eventsAbout } from '../../platform/events/record-events.ts'
import type { Checkpoint } from './checkpoint.ts'

export const runs = records<SyncRun>({ name: 'sync_run', table: 'sync_runs', fields: fields.SyncRun })

export const recordRunEvent = eventsAbout<SyncRun, Extract<EventType, `sync.run.${string}`>>('sync_run')

const nothing = {
	pages: 0,
	bytes: 0,
	read: 0,
	created: 0,
	updated: 0,
	unchanged: 0,
	skipped: 0,
	deleted: 0,
	failed: 0,
	total: null,
}

const insertion = query<SyncRun & { checkpoint: Checkpoint }>((knex, row) => knex('sync_runs').insert(row))

type New = Pick<SyncRun, 'organizationId' | 'syncId' | 'trigger' | 'mode' | 'mappingVersion' | 'reverseMappingVersion'>

/** Throws UniqueViolation while another run of the sync is under way. */
export async function insertRun(db: Db, input: New, checkpoint: Checkpoint, now: number): Promise<SyncRun> {
	const system = { id: newTimedId('run', now), createdAt: now, updatedAt: now }
	const run: SyncRun = { ...blanks.SyncRun, ...input, ...system, status: 'queued', attempt: 1, progress: nothing }
	await db.run(insertion, { ...run, checkpoint })
	// In the order of the contract, as a read answers it.
	return (await runs.find(db, run.organizationId, run.id)) ?? run
}

export interface RunKey {
	readonly organizationId: string
	readonly id: string
}

type Changes = Partial<
	Pick<SyncRun, 'status' | 'attempt' | 'progress' | 'error' | 'waitingUntil' | 'startedAt' | 'finishedAt'> & {
		checkpoint: Checkpoint
	}
>

const change = query<RunKey & Changes & { updatedAt: number; from: string }>((knex, { organizationId, id, from, ...columns }) =>
	knex('sync_runs').where({ organizationId, id, status: from }).update(columns),
)

/** Changes a run that has this status; false when it has another one by now. */
export const changeRun = async (db: Db, { organizationId, id }: RunKey, from: SyncRun['status'], now: number, changes: Changes) =>
	(await db.run(change, { organizationId, id, from, updatedAt: now, ...changes })) === 1

interface Row {
	readonly json: string
	readonly checkpoint: string | Checkpoint
}

const checkpointOf = query<RunKey, Row>((knex, { organizationId, id }, dialect) =>
	knex('sync_runs')
		.where({ organizationId, id })
		.select(jsonColumn(knex, dialect, fields.SyncRun), 'checkpoint'),
)

export interface StoredRun {
	readonly run: SyncRun
	readonly checkpoint: Checkpoint
}

/** A run, and where it goes on. */
export async function findStoredRun(db: Db, { organizationId, id }: RunKey): Promise<StoredRun | undefined> {
	const row = await db.get(checkpointOf, { organizationId, id })
	if (!row) return undefined
	const checkpoint = typeof row.checkpoint === 'string' ? JSON.parse(row.checkpoint) : row.checkpoint
	return { run: JSON.parse(row.json), checkpoint }
}

/** Lets a run that waits delete what it found. */
export const confirmDeletions = (db: Db, { organizationId, id, status }: SyncRun, checkpoint: Checkpoint, now: number) =>
	changeRun(db, { organizationId, id }, status, now, { checkpoint: { ...checkpoint, isConfirmed: true } })

interface OfSync {
	readonly organizationId: string
	readonly syncId: string
}

const active = query<OfSync, { json: string }>((knex, key, dialect) =>
	knex('sync_runs')
		.where(key)
		.whereNull('finishedAt')
		.select(jsonColumn(knex, dialect, fields.SyncRun))
		.forUpdate(),
)

/** The run of a sync that is under way or waits, locked. */
export async function lockActiveRun(db: Db, organizationId: string, syncId: string): Promise<SyncRun | undefined> {
	const row = await db.get(active, { organizationId, syncId })
	return row && JSON.parse(row.json)
}

const list = listOf<OfSync>({
	table: 'sync_runs',
	order: { column: 'id', direction: 'desc' },
	matching: (knex, key) => knex('sync_runs').where(key),
	columns: (knex, dialect) => jsonColumn(knex, dialect, fields.SyncRun),
})

/** A page of the runs of a sync as JSON texts, newest first. */
export const readRuns = (db: Db, key: OfSync, page: PageQuery) => list.readCounted(db, key, page)
