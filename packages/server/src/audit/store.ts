// Reads the audit log, newest first. db/audit-log.ts writes it.
import type { Knex } from 'knex'
import { beginningOf } from '../base/ids.ts'
import { asNumber, type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import { type PageRows, readSized, type Sized, storedBytes } from '../events/long-records-store.ts'
import type { ResourceKind } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'

interface Filters {
	readonly organizationId: string
	readonly resourceType?: ResourceKind
	readonly resourceId?: string
	readonly actorId?: string
}

interface Bounds {
	/** Only entries with this id or a greater one. */
	readonly first?: string
	/** Only entries with a smaller id: those before a time, or after a cursor. */
	readonly before?: string
}

interface Page {
	readonly limit: number
	readonly offset: number
}

/** SQLite is told the index: of two bounds of the id it would expect too much. */
function matching(knex: Knex, { first, before, ...filters }: Placeholders<Filters & Bounds>, dialect: Dialect) {
	const { resourceId, actorId } = filters
	const index = resourceId ? 'audit_log_by_resource' : actorId ? 'audit_log_by_actor' : undefined
	const hinted = dialect === 'sqlite' && index !== undefined
	const rows = knex(hinted ? knex.raw(`audit_log indexed by ${index}`) : 'audit_log').where(filters)
	if (first !== undefined) rows.where('id', '>=', first)
	if (before !== undefined) rows.where('id', '<', before)
	return rows
}

const pair = (knex: Knex, dialect: Dialect, type: string, id: string) =>
	knex.raw(`${dialect === 'sqlite' ? 'json_object' : 'json_build_object'}('type', ??, 'id', ??)`, [type, id])

const nestedOf = (knex: Knex, dialect: Dialect) => ({
	resource: pair(knex, dialect, 'resourceType', 'resourceId'),
	actor: pair(knex, dialect, 'actorType', 'actorId'),
})

const page = (knex: Knex, { limit, offset, ...rest }: Placeholders<Filters & Bounds & Page>, dialect: Dialect) =>
	matching(knex, rest, dialect).orderBy('id', 'desc').limit(asNumber(limit)).offset(asNumber(offset))

/** The entries of a page, and how long each is: one may have all lines of an invoice. */
const sizes = query<Filters & Bounds & Page, Sized>((knex, params, dialect) => {
	const bytes = knex.raw(`${storedBytes('before', dialect)} + ${storedBytes('after', dialect)} as bytes`)
	return page(knex, params, dialect).select('id', bytes)
})

const queriesOf = (shown: typeof fields.AuditEntry | typeof fields.HistoryEntry) => ({
	page: query<Filters & Bounds & Page, { json: string }>((knex, params, dialect) =>
		page(knex, params, dialect).select(jsonColumn(knex, dialect, shown, nestedOf(knex, dialect))),
	),
	one: query<{ organizationId: string; id: string }, { json: string }>((knex, key, dialect) =>
		knex('audit_log')
			.where(key)
			.select(jsonColumn(knex, dialect, shown, nestedOf(knex, dialect))),
	),
})

const entries = queriesOf(fields.AuditEntry)
const history = queriesOf(fields.HistoryEntry)

interface Request extends Filters, Page {
	/** The last entry of the page before. */
	readonly cursor?: string
	/** Only entries from this time on, and before this one. */
	readonly from?: number
	readonly to?: number
}

/** The log is not counted: it only grows. */
async function read(db: Db, queries: typeof entries, { limit, offset, cursor, from, to, ...filters }: Request) {
	const ends = [...(cursor === undefined ? [] : [cursor]), ...(to === undefined ? [] : [beginningOf('aud', to)])].sort()
	const bounds = {
		...(from !== undefined && { first: beginningOf('aud', from) }),
		...(ends[0] !== undefined && { before: ends[0] }),
	}
	const asked = { ...filters, ...bounds, limit, offset }
	const found = await db.all(sizes, asked)
	const { organizationId } = filters
	const rows: PageRows = await readSized(
		found,
		() => db.column(queries.page, asked),
		async (id) => (await db.get(queries.one, { organizationId, id }))?.json,
	)
	// What comes later stands on the first page, so a page that is not full is the last.
	const nextCursor = found.length < limit ? null : (found.at(-1)?.id ?? null)
	return { rows, isEmpty: found.length === 0, meta: { total: null, limit, offset, nextCursor } }
}

/** A page of the entries of an organization as JSON texts, with its meta. */
export const readAuditLog = (db: Db, request: Request) => read(db, entries, request)

/** A page of the entries of one record as JSON texts, with its meta. */
export const readHistory = (db: Db, request: Request & Required<Pick<Filters, 'resourceType' | 'resourceId'>>) =>
	read(db, history, request)
