import type { TimeEntry, TimeEntryCreate, TimeEntryUpdate } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import { difference, recordChanges } from '../../platform/db/audit-log.ts'
import { type Db, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { isAnyOf, type ListFilter, records } from '../../platform/db/records.ts'
import { forEachPart } from '../../platform/db/row-lists.ts'
import type { OrderedOrigin, WriteContext } from '../../platform/db/write-context.ts'
import { changesBetween } from '../../platform/events/changes.ts'
import { eventsAbout, recordUpdates } from '../../platform/events/record-events.ts'
import type { Instants } from '../../platform/lists/dates.ts'
import { filterBy, requireRanges } from '../../platform/lists/filters.ts'
import { deals } from '../deals/store.ts'
import { type Searched, type SearchText, searchedPage } from '../search/lists.ts'
import { searchTexts, withSearchText } from '../search/texts.ts'
import { defaultStart, isRunning, writeSpan } from './duration.ts'
import { requireNoTimer } from './running-store.ts'

type Filter = Instants<ListFilter<'timeEntries.list'>, 'from' | 'to' | 'updatedSince'>

export const timeEntries = records<TimeEntry, Searched<Filter>, SearchText>({
	name: 'time_entry',
	table: 'time_entries',
	fields: fields.TimeEntry,
	order: { column: 'startedAt', direction: 'desc' },
	filter: filterBy('time_entries', { from: ['startedAt', '>='], to: ['startedAt', '<='], updatedSince: ['updatedAt', '>='] }),
	sparse: (column, { dealId, invoiceId, status }) =>
		column === 'updatedAt'
			? ['dealId', 'invoiceId', 'status', 'userId', 'billable', 'from', 'to']
			: ['billable', ...((dealId ?? invoiceId ?? status) === undefined ? [] : ['userId'])],
})

const readSearched = searchedPage<Filter>('time_entries', timeEntries)

export const readTimeEntries: typeof readSearched = (db, organizationId, query) => {
	requireRanges(query, [['from', 'to']])
	return readSearched(db, organizationId, query)
}

const record = eventsAbout<TimeEntry, `time_entry.${'created' | 'updated' | 'deleted'}`>('time_entry')

export async function createTimeEntry(write: WriteContext, input: TimeEntryCreate): Promise<TimeEntry> {
	const { db, origin, organization } = write
	const { now } = origin
	await deals.require(db, organization.id, input.dealId, '/dealId')
	const entry: TimeEntry = {
		...blanks.TimeEntry,
		billable: true,
		...input,
		...writeSpan({ startedAt: defaultStart(input, now), endedAt: null, durationSeconds: null }, input),
		organizationId: organization.id,
		id: newId('te'),
		status: 'open',
		invoiceId: null,
		createdAt: now,
		updatedAt: now,
		version: 1,
	}
	if (isRunning(entry)) await requireNoTimer(db, entry)
	const data = await timeEntries.insert(write, entry, { searchText: searchTexts.time_entries(entry) })
	await record(db, origin, 'time_entry.created', entry, { data })
	return entry
}

/** Changes an entry that was read with `lock`. */
export async function changeTimeEntry(write: WriteContext, stored: TimeEntry, input: TimeEntryUpdate): Promise<TimeEntry> {
	const { db, origin } = write
	rejectInvoiced(stored)
	const { dealId } = input
	if (dealId !== undefined && dealId !== stored.dealId) await deals.require(db, stored.organizationId, dealId, '/dealId')
	const span = writeSpan(stored, input)
	const { userId = stored.userId } = input
	const starts = isRunning(span) && (!isRunning(stored) || userId !== stored.userId)
	if (starts) await requireNoTimer(db, { ...stored, userId })
	const entry = await timeEntries.update(write, stored, withSearchText('time_entries', stored, { ...input, ...span }))
	if (Object.keys(changesBetween(stored, entry)).length > 0)
		await record(db, origin, 'time_entry.updated', entry, { before: stored })
	return entry
}

export async function removeTimeEntry(write: WriteContext, stored: TimeEntry): Promise<void> {
	rejectInvoiced(stored)
	const data = await timeEntries.remove(write, stored)
	await record(write.db, write.origin, 'time_entry.deleted', stored, { data })
}

/** Throws when the entry is on an invoice: an invoice keeps charging the entry as it was. */
function rejectInvoiced({ status, invoiceId }: TimeEntry): void {
	if (status === 'invoiced')
		throw new ApiError('time_entry_invoiced', `The time entry is on the invoice ${invoiceId}: take it off first.`)
}

interface Claim {
	readonly organizationId: string
	readonly invoiceId: string
	readonly ids: readonly string[]
	readonly updatedAt: number
}

const lockedByIds = query<Pick<Claim, 'organizationId' | 'ids'>, { json: string }>((knex, { organizationId, ids }, dialect) =>
	knex('time_entries')
		.where({ organizationId })
		.whereRaw(isAnyOf('id', dialect), [ids])
		.select(jsonColumn(knex, dialect, fields.TimeEntry))
		.orderBy(['startedAt', 'id'])
		.forUpdate(),
)

/**
 * The named entries that exist, by start, locked until the transaction ends: an invoice that claims them charges what they
 * say at that moment.
 */
export const lockTimeEntries = (db: Db, organizationId: string, ids: readonly string[]) =>
	parsed(db.column(lockedByIds, { organizationId, ids }))

const byInvoice = query<Pick<Claim, 'organizationId' | 'invoiceId'>, { json: string }>((knex, key, dialect) =>
	knex('time_entries')
		.where(key)
		.select(jsonColumn(knex, dialect, fields.TimeEntry))
		.orderBy(['startedAt', 'id']),
)

/** The entries on an invoice, by start. */
export const findTimeEntriesOf = (db: Db, organizationId: string, invoiceId: string) =>
	parsed(db.column(byInvoice, { organizationId, invoiceId }))

const parsed = async (rows: Promise<string[]>) => (await rows).map((json) => JSON.parse(json) as TimeEntry)

const claim = query<Claim>((knex, { organizationId, invoiceId, ids, updatedAt }, dialect) =>
	knex('time_entries')
		.where({ organizationId, status: 'open' })
		.whereRaw(isAnyOf('id', dialect), [ids])
		.update({ status: 'invoiced', invoiceId, updatedAt, version: knex.raw('?? + 1', ['version']) }),
)

/**
 * Puts open entries on an invoice, in one statement, so that no other invoice can claim one in between. Returns false when
 * not all of them were open; the transaction must not commit then.
 */
export async function claimTimeEntries(
	db: Db,
	invoiceId: string,
	entries: readonly TimeEntry[],
	origin: OrderedOrigin,
): Promise<boolean> {
	const [first] = entries
	if (!first) return true
	const ids = entries.map(({ id }) => id)
	const claimed = await db.run(claim, { organizationId: first.organizationId, invoiceId, ids, updatedAt: origin.now })
	if (claimed !== entries.length) return false
	await recordMoves(db, origin, entries, { status: 'invoiced', invoiceId })
	return true
}

const free = query<Claim>((knex, { organizationId, invoiceId, ids, updatedAt }, dialect) =>
	knex('time_entries')
		.where({ organizationId, invoiceId })
		.whereRaw(isAnyOf('id', dialect), [ids])
		.update({ status: 'open', invoiceId: null, updatedAt, version: knex.raw('?? + 1', ['version']) }),
)

/** Takes entries off an invoice, so that they can be invoiced again. */
export async function freeTimeEntries(
	db: Db,
	{ organizationId, id: invoiceId }: { organizationId: string; id: string },
	ids: readonly string[],
	origin: OrderedOrigin,
): Promise<void> {
	if (ids.length === 0) return
	const entries = (await lockTimeEntries(db, organizationId, ids)).filter((entry) => entry.invoiceId === invoiceId)
	await db.run(free, { organizationId, invoiceId, ids, updatedAt: origin.now })
	await recordMoves(db, origin, entries, { status: 'open', invoiceId: null })
}

type Move = Pick<TimeEntry, 'status' | 'invoiceId'>

const recordMoves = (db: Db, origin: OrderedOrigin, entries: readonly TimeEntry[], move: Move): Promise<void> =>
	forEachPart(db, entries, (part) => {
		const moves = part.map((before) => ({
			before,
			after: { ...before, ...move, updatedAt: origin.now, version: before.version + 1 },
		}))
		const changes = moves.map(({ before, after }) => {
			const { organizationId, id: resourceId } = after
			return { organizationId, resource: 'time_entry', resourceId, action: 'updated', ...difference(before, after) } as const
		})
		return Promise.all([
			recordChanges({ db, origin }, changes),
			recordUpdates(db, origin, ['time_entry', 'time_entry.updated'], moves),
		])
	})
