// Reads the audit log, newest first. platform/db/audit-log.ts writes it.
import type { Knex } from 'knex'
import type { ResourceKind } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { beginningOf } from '../base/ids.ts'
import { type Db, type Dialect, type Placeholders, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import { cutPage, type Order, onPage, type PageParameters, type PageQuery, pageParameters, skipTo, stepOf } from '../db/pages.ts'
import { readSized, type Sized, storedBytes } from '../events/long-records-store.ts'

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

const newestFirst: Order = { column: 'id', direction: 'desc' }

const step = stepOf<Filters & Bounds>(matching, newestFirst)

function page(knex: Knex, params: Placeholders<Filters & Bounds & PageParameters>, dialect: Dialect): Knex.QueryBuilder {
	const { limit, offset, afterKey, afterId, ...rest } = params
	return onPage(matching(knex, rest, dialect), { limit, offset, afterKey, afterId } as Placeholders<PageParameters>, newestFirst)
}

/** The entries of a page, and how long each is: one may have all lines of an invoice. */
const sizes = query<Filters & Bounds & PageParameters, Sized>((knex, params, dialect) => {
	const bytes = knex.raw(`${storedBytes('before', dialect)} + ${storedBytes('after', dialect)} as bytes`)
	return page(knex, params, dialect).select('id', bytes)
})

const queriesOf = (shown: typeof fields.AuditEntry | typeof fields.HistoryEntry) => ({
	page: query<Filters & Bounds & PageParameters, { json: string }>((knex, params, dialect) =>
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

interface Request extends Filters, PageQuery {
	/** Only entries from this time on, and before this one. */
	readonly from?: number | undefined
	readonly to?: number | undefined
}

/** The log is not counted: it only grows. */
async function read(db: Db, queries: typeof entries, { limit, offset, after, from, to, ...filters }: Request) {
	const ends = [...(after === undefined ? [] : [after.id]), ...(to === undefined ? [] : [beginningOf('aud', to)])].sort()
	const bounds = {
		...(from !== undefined && { first: beginningOf('aud', from) }),
		...(ends[0] !== undefined && { before: ends[0] }),
	}
	const scope = { ...filters, ...bounds }
	const at = await skipTo(db, 'audit_log', step, scope, { limit, offset })
	const asked = { ...scope, ...pageParameters(at ?? { limit, offset }) }
	const { rows: found, hasMore } = cutPage(at ? await db.all(sizes, asked) : [], limit)
	const { organizationId } = filters
	const rows = await readSized(
		found,
		async () => (await db.column(queries.page, asked)).slice(0, limit),
		async (id) => (await db.get(queries.one, { organizationId, id }))?.json,
	)
	const id = found.at(-1)?.id ?? ''
	return { rows, isEmpty: found.length === 0, hasMore, total: null, ...(hasMore && { end: { key: id, id } }) }
}

/** A page of the entries of an organization as JSON texts. */
export const readAuditLog = (db: Db, request: Request) => read(db, entries, request)

/** A page of the entries of one record as JSON texts. */
export const readHistory = (db: Db, request: Request & Required<Pick<Filters, 'resourceType' | 'resourceId'>>) =>
	read(db, history, request)
