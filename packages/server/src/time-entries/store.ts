import { newId } from '../base/ids.ts'
import type { Origin } from '../base/origin.ts'
import { type Db, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import { isAnyOf, records } from '../db/records.ts'
import { changesBetween } from '../events/changes.ts'
import { recordEvent } from '../events/record.ts'
import type { TimeEntry, TimeEntryCreate, TimeEntryStatus, TimeEntryUpdate } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'
import { defaultStart, writeSpan } from './duration.ts'

interface TimeEntryFilter {
	readonly dealId?: string
	readonly invoiceId?: string
	readonly status?: TimeEntryStatus
}

export const timeEntries = records<TimeEntry, TimeEntryFilter>('time_entries', fields.TimeEntry, { order: 'startedAt' })

export async function insertTimeEntry(
	db: Db,
	organizationId: string,
	input: TimeEntryCreate,
	origin: Origin,
): Promise<TimeEntry> {
	const { now } = origin
	const entry = {
		...noDetails,
		...input,
		...writeSpan({ startedAt: defaultStart(input, now), endedAt: null, durationSeconds: null }, input),
		organizationId,
		id: newId('te'),
		status: 'open' as const,
		invoiceId: null,
		createdAt: now,
		updatedAt: now,
		version: 1,
	}
	await timeEntries.insert(db, entry)
	await tell(db, origin, 'time_entry.created', entry)
	return entry
}

const noDetails = {
	userId: null,
	taskId: null,
	taskName: null,
	deliverableId: null,
	deliverableName: null,
	description: null,
	billable: true,
	hourlyRateCents: null,
}

/** Writes the changes to an entry that was read with `lock`. */
export async function updateTimeEntry(db: Db, entry: TimeEntry, input: TimeEntryUpdate, origin: Origin): Promise<TimeEntry> {
	const changes = { ...input, ...writeSpan(entry, input) }
	const changed = await timeEntries.update(db, entry, changes, origin.now)
	if (Object.keys(changesBetween(entry, changed)).length > 0) await tell(db, origin, 'time_entry.updated', changed, entry)
	return changed
}

export async function removeTimeEntry(db: Db, entry: TimeEntry, origin: Origin): Promise<void> {
	await timeEntries.remove(db, entry)
	await tell(db, origin, 'time_entry.deleted', entry)
}

function tell(
	db: Db,
	origin: Origin,
	type: `time_entry.${'created' | 'updated' | 'deleted'}`,
	entry: TimeEntry,
	before?: TimeEntry,
): Promise<string> {
	return recordEvent(db, origin, {
		type,
		organizationId: entry.organizationId,
		resource: 'time_entry',
		resourceId: entry.id,
		data: JSON.stringify(entry),
		...(before && { changes: changesBetween(before, entry) }),
	})
}

interface Claim {
	readonly organizationId: string
	readonly invoiceId: string
	readonly ids: readonly string[]
	readonly updatedAt: number
}

const found = query<Pick<Claim, 'organizationId' | 'ids'>, { json: string }>((knex, { organizationId, ids }, dialect) =>
	knex('time_entries')
		.where({ organizationId })
		.whereRaw(isAnyOf('id', dialect), [ids])
		.select(jsonColumn(knex, dialect, fields.TimeEntry))
		.orderBy(['startedAt', 'id'])
		.forUpdate(),
)

/**
 * Those of the named entries that are there, in the order in which they began: locked until the transaction ends, so that what
 * is charged is what the entries say when they are taken.
 */
export const lockTimeEntries = (db: Db, organizationId: string, ids: readonly string[]) =>
	parsed(db.column(found, { organizationId, ids }))

const ofInvoice = query<Pick<Claim, 'organizationId' | 'invoiceId'>, { json: string }>((knex, key, dialect) =>
	knex('time_entries')
		.where(key)
		.select(jsonColumn(knex, dialect, fields.TimeEntry))
		.orderBy(['startedAt', 'id']),
)

/** The entries on an invoice, in the order in which they began. */
export const findTimeEntriesOf = (db: Db, organizationId: string, invoiceId: string) =>
	parsed(db.column(ofInvoice, { organizationId, invoiceId }))

const parsed = async (rows: Promise<string[]>) => (await rows).map((json) => JSON.parse(json) as TimeEntry)

const claim = query<Claim>((knex, { organizationId, invoiceId, ids, updatedAt }, dialect) =>
	knex('time_entries')
		.where({ organizationId, status: 'open' })
		.whereRaw(isAnyOf('id', dialect), [ids])
		.update({ status: 'invoiced', invoiceId, updatedAt, version: knex.raw('?? + 1', ['version']) }),
)

/**
 * Puts open entries on an invoice and returns whether all of them were: one statement that another invoice's claim cannot
 * come between. When it returns false the transaction must not commit.
 */
export async function claimTimeEntries(
	db: Db,
	invoiceId: string,
	entries: readonly TimeEntry[],
	origin: Origin,
): Promise<boolean> {
	const [first] = entries
	if (!first) return true
	const ids = entries.map(({ id }) => id)
	const claimed = await db.run(claim, { organizationId: first.organizationId, invoiceId, ids, updatedAt: origin.now })
	if (claimed !== entries.length) return false
	for (const entry of entries) await tell(db, origin, 'time_entry.updated', moved(entry, 'invoiced', invoiceId, origin), entry)
	return true
}

const free = query<Claim>((knex, { organizationId, invoiceId, ids, updatedAt }, dialect) =>
	knex('time_entries')
		.where({ organizationId, invoiceId })
		.whereRaw(isAnyOf('id', dialect), [ids])
		.update({ status: 'open', invoiceId: null, updatedAt, version: knex.raw('?? + 1', ['version']) }),
)

/** Takes entries off an invoice: they can be invoiced again. */
export async function freeTimeEntries(
	db: Db,
	{ organizationId, id: invoiceId }: { organizationId: string; id: string },
	ids: readonly string[],
	origin: Origin,
): Promise<void> {
	if (ids.length === 0) return
	const entries = (await lockTimeEntries(db, organizationId, ids)).filter((entry) => entry.invoiceId === invoiceId)
	await db.run(free, { organizationId, invoiceId, ids, updatedAt: origin.now })
	for (const entry of entries) await tell(db, origin, 'time_entry.updated', moved(entry, 'open', null, origin), entry)
}

const moved = (entry: TimeEntry, status: TimeEntryStatus, invoiceId: string | null, { now }: Origin): TimeEntry => ({
	...entry,
	status,
	invoiceId,
	updatedAt: now,
	version: entry.version + 1,
})
