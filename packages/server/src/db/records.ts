// What the stores of most records do alike: read, lock, list, insert and update by organization and id. A record's columns
// are its fields in the contract.
import type { Knex } from 'knex'
import { type Db, type Dialect, type Placeholders, query } from './database.ts'
import { type Fields, jsonColumn } from './json.ts'

/** Whether a column is in a list that is one parameter, so that the statement is the same for any number of values. */
export const isAnyOf = (column: string, dialect: Dialect) =>
	`"${column}" in (select ${dialect === 'sqlite' ? 'value from json_each(?)' : 'jsonb_array_elements_text(cast(? as jsonb))'})`

interface Record {
	readonly organizationId: string
	readonly id: string
	readonly version: number
}

interface Key {
	readonly organizationId: string
	readonly id: string
}

/** A record as JSON text, and its version. */
export interface RecordJson {
	readonly json: string
	readonly version: number
}

interface Options {
	/** Rows with `deletedAt` are deleted, and not found. */
	readonly softDelete?: boolean
	/** What lists sort by, the latest first. */
	readonly order?: 'createdAt' | 'startedAt'
}

interface Page {
	readonly limit: number
	readonly offset: number
}

/** What reads a kind of record. */
export interface RecordStore<R, Filter> {
	find(db: Db, organizationId: string, id: string): Promise<RecordJson | undefined>
	lock(db: Db, organizationId: string, id: string): Promise<R | undefined>
	list(db: Db, organizationId: string, query: Filter & Page): Promise<{ rows: string[]; total: number }>
}

/** `Hidden` are columns that are not in the contract. */
export function records<R extends Record, Filter extends object, Hidden extends object = object>(
	table: string,
	fields: Fields,
	{ softDelete = false, order = 'createdAt' }: Options = {},
) {
	type Filters = Filter & { organizationId: string }
	const live = (rows: Knex.QueryBuilder) => (softDelete ? rows.whereNull('deletedAt') : rows)
	const byId = (knex: Knex, key: Placeholders<Key>, dialect: Dialect) =>
		live(knex(table).where(key)).select(jsonColumn(knex, dialect, fields), 'version')

	const one = query<Key, RecordJson>(byId)
	const locked = query<Key, RecordJson>((knex, key, dialect) => byId(knex, key, dialect).forUpdate())
	const shared = query<Key, RecordJson>((knex, key, dialect) => byId(knex, key, dialect).forShare())
	const insertion = query<R & Hidden>((knex, row) => knex(table).insert(row))
	const change = query<Partial<R> & Key>((knex, { organizationId, id, ...columns }) =>
		knex(table).where({ organizationId, id }).update(columns),
	)
	const removal = query<Key>((knex, key) => knex(table).where(key).delete())
	const matching = (knex: Knex, filters: Placeholders<Filters>) => live(knex(table).where(filters))
	const page = query<Filters & Page, { json: string }>((knex, { limit, offset, ...filters }, dialect) =>
		matching(knex, filters as unknown as Placeholders<Filters>)
			.select(jsonColumn(knex, dialect, fields))
			.orderBy([
				{ column: order, order: 'desc' },
				{ column: 'id', order: 'desc' },
			])
			.limit(limit as never)
			.offset(offset as never),
	)
	const count = query<Filters, { total: number }>((knex, filters) => matching(knex, filters).count({ total: '*' }))

	return {
		find: (db: Db, organizationId: string, id: string) => db.get(one, { organizationId, id }),

		async exists(db: Db, organizationId: string, id: string): Promise<boolean> {
			return (await db.get(one, { organizationId, id })) !== undefined
		},

		/** The record, locked until the transaction ends. */
		async lock(db: Db, organizationId: string, id: string): Promise<R | undefined> {
			const row = await db.get(locked, { organizationId, id })
			return row && (JSON.parse(row.json) as R)
		},

		/** The record, which nobody changes until the transaction ends; others may read it so at the same time. */
		async lockShared(db: Db, organizationId: string, id: string): Promise<R | undefined> {
			const row = await db.get(shared, { organizationId, id })
			return row && (JSON.parse(row.json) as R)
		},

		insert: (db: Db, row: R & Hidden) => db.run(insertion, row),

		/** Writes the changes to a record that was read with `lock`; returns the record as it is now. */
		async update(db: Db, record: R, changes: Partial<R & Hidden>, now: number): Promise<R> {
			const changed = { ...changes, updatedAt: now, version: record.version + 1 }
			const { organizationId, id } = record
			await db.run(change, { ...changed, organizationId, id } as unknown as Partial<R> & Key)
			return { ...record, ...changed }
		},

		remove: (db: Db, { organizationId, id }: Key) => db.run(removal, { organizationId, id }),

		/** A page as JSON texts, and how many records there are in all. */
		async list(db: Db, organizationId: string, { limit, offset, ...filter }: Filter & Page) {
			const filters = { organizationId, ...(filter as unknown as Filter) }
			const rows = await db.column(page, { ...filters, limit, offset })
			if (rows.length > 0 && rows.length < limit) return { rows, total: offset + rows.length }
			const counted = await db.get(count, filters)
			return { rows, total: counted?.total ?? 0 }
		},
	}
}
