// Makes the store of a kind of record: read, lock, list and write by organization and id. A record's columns are its fields in
// the contract, and only `jsonColumn` turns a row into a record.
import type { Knex } from 'knex'
import type { ErrorCode, operations, ResourceKind } from '../../generated/contract.ts'
import { ApiError, fieldError } from '../base/errors.ts'
import { difference, isNothing, recordChange, type Writing } from './audit-log.ts'
import { type Db, type Dialect, madeOnce, type Placeholders, query } from './database.ts'
import { type Fields, jsonColumn } from './json.ts'
import { type Bounds, listOf } from './list-of.ts'
import type { CountedPage, Order, PageQuery, PageRows } from './pages.ts'

/**
 * SQL that looks a column up in a list. The list is one parameter, so the statement is the same for any number of values. As an array
 * PostgreSQL looks each value up in the index, also in a table of which it has no statistics yet.
 */
export const isAnyOf = (column: string, dialect: Dialect) =>
	dialect === 'sqlite'
		? `${quoted(column)} in (select value from json_each(?))`
		: `${quoted(column)} = any(array(select jsonb_array_elements_text(cast(? as jsonb))))`

/** A column, perhaps behind a table and a dot. */
const quoted = (column: string) => `"${column.replace('.', '"."')}"`

/** SQL: each word of a list begins a word of the text. The list is one parameter. */
export const hasWords = (text: string, dialect: Dialect) =>
	dialect === 'sqlite'
		? `not exists (select 1 from json_each(?) as w where instr(' ' || ${text}, ' ' || w.value) = 0)`
		: `not exists (select 1 from jsonb_array_elements_text(cast(? as jsonb)) as w where strpos(' ' || ${text}, ' ' || w.value) = 0)`

/** SQL: a text has two words somewhere. It costs a tenth of `hasWords`, and most texts that do not have all words lack one of the longest. */
export function contains(text: string, dialect: Dialect): string {
	const position = dialect === 'sqlite' ? 'instr' : 'strpos'
	return `${position}(${text}, ?) > 0 and ${position}(${text}, ?) > 0`
}

/** Keeps the rows that are limited to kinds of records among these; all rows when `within` is undefined. */
export function limitWithin(rows: Knex.QueryBuilder, within: Knex.Value | undefined, dialect: Dialect): Knex.QueryBuilder {
	if (within === undefined) return rows
	const isWithin =
		dialect === 'sqlite'
			? 'not exists (select 1 from json_each(resources) where value not in (select value from json_each(?)))'
			: 'resources::jsonb <@ ?::jsonb'
	return rows.whereNotNull('resources').whereRaw(isWithin, [within])
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

/** The query of a list as the contract has it, without the page and its order. */
export type ListFilter<Id extends keyof operations> = Omit<
	NonNullable<operations[Id]['parameters']['query']>,
	'limit' | 'offset' | 'cursor' | 'sortBy' | 'sortOrder'
>

/** The kind's name, also in error codes: `tax_rate`, for `tax_rate_not_found`. */
type KindName = ResourceKind & (ErrorCode extends infer Code ? (Code extends `${infer Name}_not_found` ? Name : never) : never)

interface Kind<Filters> {
	readonly name: KindName
	readonly table: string
	readonly fields: Fields
	/** A deleted record keeps its row, with `deletedAt`, and only `findEvenDeleted` finds it. */
	readonly softDelete?: boolean
	/** The default order of a list; newest first when absent. */
	readonly order?: Order
	/** Applies a list's filters; when absent, each filter must equal the column of its name. */
	readonly filter?: ((
		rows: Knex.QueryBuilder,
		knex: Knex,
		filters: Placeholders<Filters>,
		dialect: Dialect,
	) => Knex.QueryBuilder) & { readonly boundsOf?: (column: string) => Bounds }
	/** Those of the filters that no index has together with an order by the column, and with the other filters. */
	readonly sparse?: (column: string, filters: Record<string, unknown>) => readonly string[]
}

const newestFirst: Order = { column: 'createdAt', direction: 'desc' }

/** `Hidden` are columns that are not in the contract. */
export function records<R extends Key, Filter extends object = object, Hidden extends object = object>(
	kind: Kind<Filter & { organizationId: string }>,
) {
	type Filters = Filter & { organizationId: string }
	const { name, table, fields, softDelete = false } = kind
	const words = name.replaceAll('_', ' ')
	const live = (rows: Knex.QueryBuilder) => (softDelete ? rows.whereNull('deletedAt') : rows)
	const shown = (knex: Knex, dialect: Dialect) => [jsonColumn(knex, dialect, fields), ...('version' in fields ? ['version'] : [])]
	const all = (knex: Knex, key: Placeholders<Key>, dialect: Dialect) => knex(table).where(key).select(shown(knex, dialect))
	const byId = (knex: Knex, key: Placeholders<Key>, dialect: Dialect) => live(all(knex, key, dialect))

	const one = query<Key, RecordJson>(byId)
	const oneEvenDeleted = query<Key, RecordJson>(all)
	const locked = query<Key, RecordJson>((knex, key, dialect) => byId(knex, key, dialect).forUpdate())
	const lockedDeleted = query<Key, RecordJson>((knex, key, dialect) =>
		all(knex, key, dialect).whereNotNull('deletedAt').forUpdate(),
	)
	const shared = query<Key, RecordJson>((knex, key, dialect) => byId(knex, key, dialect).forShare())
	const insertion = query<R & Hidden>((knex, row) => knex(table).insert(row))
	const change = query<Partial<R> & Key>((knex, { organizationId, id, ...columns }) =>
		knex(table).where({ organizationId, id }).update(columns),
	)
	const removal = query<Key>((knex, key) => knex(table).where(key).delete())

	const byColumns = (rows: Knex.QueryBuilder, _: Knex, filters: object) => rows.where(filters)
	const { filter = byColumns } = kind
	const matching = (knex: Knex, filters: Placeholders<Filters>, dialect: Dialect) =>
		live(filter(knex(table), knex, filters, dialect))
	const listIn = madeOnce(
		(order: Order) =>
			listOf<Filters>({
				table,
				order,
				matching,
				columns: (knex, dialect) => jsonColumn(knex, dialect, fields),
				bounds: kind.filter?.boundsOf?.(order.column),
				sparse: (filters) => kind.sparse?.(order.column, filters) ?? [],
			}),
		({ column, direction }) => `${column} ${direction}`,
	)
	const asked = (organizationId: string, { limit, offset, after, ...filter }: Filter & PageQuery) =>
		[
			{ ...(filter as unknown as Filter), organizationId },
			{ limit, offset, after },
		] as const

	const parsed = async (row: Promise<RecordJson | undefined>) => {
		const found = await row
		return found && (JSON.parse(found.json) as R)
	}

	const onlyShown = (columns: object) =>
		Object.fromEntries(Object.entries(columns).filter(([column]) => column in fields)) as Partial<R>

	const of = ({ organizationId, id }: Key) => ({ organizationId, resource: name, resourceId: id })

	return {
		kind: name,

		/** The record as JSON text. */
		read: (db: Db, organizationId: string, id: string) => db.get(one, { organizationId, id }),

		find: (db: Db, organizationId: string, id: string) => parsed(db.get(one, { organizationId, id })),

		/** The record; throws 404 without it. */
		async existing(db: Db, organizationId: string, id: string): Promise<R> {
			const found = await parsed(db.get(one, { organizationId, id }))
			if (!found) throw this.notFound(id)
			return found
		},

		/** The record, deleted or not: references to a deleted record keep working. */
		findEvenDeleted: (db: Db, organizationId: string, id: string) => parsed(db.get(oneEvenDeleted, { organizationId, id })),

		/** The record, locked against other transactions until this one ends. */
		lock: (db: Db, organizationId: string, id: string) => parsed(db.get(locked, { organizationId, id })),

		/** A record that was deleted, locked; undefined unless it was. Only of kinds with `softDelete`. */
		lockDeleted: (db: Db, organizationId: string, id: string) => parsed(db.get(lockedDeleted, { organizationId, id })),

		/** The record, which no other transaction can change until this one ends; several transactions may share this lock. */
		lockShared: (db: Db, organizationId: string, id: string) => parsed(db.get(shared, { organizationId, id })),

		/** Throws 422 `unknown_…` when the record that a field of the request names does not exist. */
		async require(db: Db, organizationId: string, id: string, pointer: string): Promise<void> {
			if (await db.get(one, { organizationId, id })) return
			throw fieldError(`unknown_${name}` as ErrorCode, pointer, `There is no ${words} ${id}.`)
		},

		notFound: (id: string) => new ApiError(`${name}_not_found` as ErrorCode, `There is no ${words} ${id}.`),

		/** Stores a new record, and notes it in the audit log; returns the record as JSON text. */
		async insert(write: Writing, record: R, ...[hidden]: object extends Hidden ? [] : [hidden: Hidden]): Promise<string> {
			const after = JSON.stringify(record)
			await Promise.all([
				write.db.run(insertion, { ...record, ...hidden } as R & Hidden),
				recordChange(write, { ...of(record), action: 'created', after }),
			])
			return after
		},

		/**
		 * Writes the changes to a record that was read with `lock`, and notes them; returns the record as it is now. When its fields
		 * have these values already, nothing is written, and its version stays. A hidden column is always written.
		 */
		async update(
			write: Writing,
			record: R & { readonly version: number },
			changes: Partial<R & Hidden>,
			action: 'updated' | 'deleted' | 'restored' = 'updated',
		): Promise<R> {
			const { organizationId, id } = record
			const values = difference(record, onlyShown(changes))
			if (isNothing(values) && Object.keys(changes).every((column) => column in fields)) return record
			const changed = { ...changes, updatedAt: write.origin.now, version: record.version + 1 }
			await Promise.all([
				write.db.run(change, { ...changed, organizationId, id } as unknown as Partial<R> & Key),
				recordChange(write, { ...of(record), action, ...values }),
			])
			return { ...record, ...onlyShown(changed) }
		},

		/** Removes a record that was read with `lock`, and notes its last state; returns that as JSON text. */
		async remove(write: Writing, record: R): Promise<string> {
			const { organizationId, id } = record
			const before = JSON.stringify(record)
			await Promise.all([
				write.db.run(removal, { organizationId, id }),
				recordChange(write, { ...of(record), action: 'deleted', before }),
			])
			return before
		},

		readRows: (db: Db, organizationId: string, page: Filter & PageQuery, order = kind.order ?? newestFirst): Promise<PageRows> =>
			listIn(order).read(db, ...asked(organizationId, page)),

		/** A page, counted. */
		readPage: (
			db: Db,
			organizationId: string,
			page: Filter & PageQuery,
			order = kind.order ?? newestFirst,
		): Promise<CountedPage> => listIn(order).readCounted(db, ...asked(organizationId, page)),
	}
}
