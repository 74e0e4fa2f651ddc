// The database makes the JSON that reads answer with: this costs half of a row object and JSON.stringify, and for a list a
// fifth. It also is the one place that makes booleans, numbers and null of both databases those of the contract.
import type { Knex } from 'knex'
import type { FieldType } from '../../generated/tables.ts'
import type { Dialect } from './database.ts'

export type Fields = Record<string, FieldType>

/** A column `json` with the record's fields; see `jsonValue`. */
export const jsonColumn = (knex: Knex, dialect: Dialect, fields: Fields, derived: Record<string, Knex.Raw> = {}) =>
	knex.raw('? as json', [jsonValue(knex, dialect, fields, derived)])

/**
 * The record's fields as JSON, in the contract's order. A field's value is the column of the same name, unless `derived` has an
 * expression for it.
 */
export function jsonValue(knex: Knex, dialect: Dialect, fields: Fields, derived: Record<string, Knex.Raw> = {}): Knex.Raw {
	const parts: string[] = []
	const bindings: Knex.Value[] = []
	for (const [name, type] of Object.entries(fields)) {
		const expression = derived[name] ?? knex.ref(name)
		if (dialect === 'sqlite') {
			const text = sqliteText(type)
			parts.push(`'${parts.length === 0 ? '{' : ','}"${name}":', ${text}`)
			bindings.push(
				...text
					.split('?')
					.slice(1)
					.map(() => expression),
			)
		} else {
			parts.push('? as ??')
			bindings.push(expression, name)
		}
	}
	const list = parts.join(', ')
	if (dialect === 'sqlite') return knex.raw(`concat(${list}, '}')`, bindings)
	// row_to_json, because json_build_object takes at most 50 fields.
	return knex.raw(`(select row_to_json(record)::text from (select ${list}) as record)`, bindings)
}

/** The order of a list, as Knex takes it. */
export type ListOrder = { column: string; order: 'asc' | 'desc' }[]

/**
 * A page of a table, whose rows are in this order, with columns that cost something to make. PostgreSQL would make them of each row that
 * the offset skips, so it finds the page first.
 */
export function pageWith(
	knex: Knex,
	dialect: Dialect,
	{ table, rows, order, columns }: { table: string; rows: Knex.QueryBuilder; order: ListOrder; columns: Knex.Raw },
): Knex.QueryBuilder {
	if (dialect === 'sqlite') return rows.select(columns)
	return knex
		.from(rows.select(`${table}.*`).as(table))
		.select(columns)
		.orderBy(order)
}

/**
 * A value as JSON text. SQLite's `json_object` would read and write the JSON of a column again: a list of 50 invoices, with five such
 * columns each, costs a quarter less by `concat`. What a column has was written by `JSON.stringify`. A call of `json_quote` costs more than
 * reading its column, so only texts that may need it take it: that saves another fifth of a list.
 */
function sqliteText(type: FieldType): string {
	if (type === 'boolean') return "iif(?, 'true', 'false')"
	if (type === 'json' || type === 'integer') return "ifnull(?, 'null')"
	if (type === 'word') return `ifnull('"' || ? || '"', 'null')`
	return type === 'string' ? "iif(? is null, 'null', json_quote(?))" : 'json_quote(?)'
}
