// What a run changes of its sync (status, next and last run, how far it has read). It is nobody's change of the sync: it leaves no entry in
// the audit log and no event of the sync, but the version rises, since the answer differs.
import type { Knex } from 'knex'
import type { Sync } from '../../generated/contract.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { countBound } from '../../platform/db/pages.ts'
import type { FullPass, Mappings } from './checkpoint.ts'

export interface SyncKey {
	readonly organizationId: string
	readonly id: string
}

/** How far the runs that came to their end have read; empty before the first. */
export interface SyncState {
	/** When the last change was that is read; null where the provider does not say. */
	readonly since?: number | null
	/** When a run last read everything from the provider. */
	readonly fullAt?: number
	/** The last such run that noted which links it met. */
	readonly passBefore?: FullPass
	/** The place in the feed of events up to which changes went out, and when that was. */
	readonly place?: number
	readonly placedAt?: number
	/** The mappings by which all links were last compared. */
	readonly mapped?: Mappings
	/** The account whose records the links are about. */
	readonly account?: string
	/** Of the provider's object, when the last run began. */
	readonly schema?: Readonly<Record<string, string>>
}

type Shown = Partial<Pick<Sync, 'status' | 'statusReason' | 'nextRunAt' | 'lastRun'>>

const note = query<SyncKey & Shown & { state?: SyncState; now: number }>((knex, { organizationId, id, now, ...values }) =>
	knex('syncs')
		.where({ organizationId, id })
		.update({ ...values, openErrors: openErrors(knex, organizationId, id), updatedAt: now, version: knex.raw('version + 1') }),
)

/** Counted to a bound, as lists are: a sync with many errors costs no more at each step of its runs. */
const openErrors = (knex: Knex, organizationId: Knex.Value, id: Knex.Value) =>
	knex.raw(
		`(select count(*) from (select 1 from sync_record_errors e where e."organizationId" = ? and e."syncId" = ? and e."resolvedAt" is null limit ${countBound}) counted)`,
		[organizationId, id],
	)

/** Writes what a run changes of its sync. The caller holds the row's lock. */
export const noteOfSync = (db: Db, { organizationId, id }: SyncKey, now: number, changes: Shown & { state?: SyncState }) =>
	db.run(note, { organizationId, id, now, ...changes })

const stateOf = query<SyncKey, { state: string | SyncState }>((knex, key) => knex('syncs').where(key).select('state'))

export async function findState(db: Db, { organizationId, id }: SyncKey): Promise<SyncState> {
	const row = await db.get(stateOf, { organizationId, id })
	return typeof row?.state === 'string' ? JSON.parse(row.state) : (row?.state ?? {})
}

const alike = query<Pick<Sync, 'organizationId' | 'connectionId'>, Pick<Sync, 'id' | 'mappingId' | 'reverseMappingId'>>(
	(knex, key) => knex('syncs').where(key).whereNull('deletedAt').select('id', 'mappingId', 'reverseMappingId'),
)

/** The live syncs of a connection, with their mappings. */
export const findSyncsOf = (db: Db, organizationId: string, connectionId: string) =>
	db.all(alike, { organizationId, connectionId })
