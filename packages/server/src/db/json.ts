// The database makes the JSON that reads answer with: this costs half of a row object and JSON.stringify, and for a list a
// fifth. It also is the one place that makes booleans, numbers and null of both databases those of the contract.
import type { Knex } from 'knex'
import type { FieldType } from '../generated/tables.ts'
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
			parts.push(`'${name}', ${sqliteExpression(type)}`)
			bindings.push(expression)
		} else {
			parts.push('? as ??')
			bindings.push(expression, name)
		}
	}
	const list = parts.join(', ')
	if (dialect === 'sqlite') return knex.raw(`json_object(${list})`, bindings)
	// row_to_json, because json_build_object takes at most 50 fields.
	return knex.raw(`(select row_to_json(record)::text from (select ${list}) as record)`, bindings)
}

function sqliteExpression(type: FieldType): string {
	if (type === 'boolean') return "iif(?, json('true'), json('false'))"
	return type === 'json' ? 'json(?)' : '?'
}
