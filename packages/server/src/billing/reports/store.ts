// Reads the sums that triggers keep of invoices and payments (migration 0081).
import type { Knex } from 'knex'
import { type Db, type Dialect, query } from '../../platform/db/database.ts'

/** The sums of a figure from one time to before another. */
export interface Range {
	readonly figure: 'draft' | 'open' | 'due' | 'due_at' | 'paid' | 'paid_at'
	readonly from: number
	readonly before: number
}

export interface Sum {
	readonly records: number
	readonly cents: number
}

interface Asked {
	readonly organizationId: string
	readonly currency: string
	readonly ranges: readonly Range[]
}

const given = (knex: Knex, dialect: Dialect, ranges: Knex.Value) =>
	dialect === 'sqlite'
		? knex.raw('json_each(?) as r', [ranges])
		: knex.raw('jsonb_array_elements(cast(? as jsonb)) with ordinality as r(value, key)', [ranges])

const sums = query<Asked, { json: string }>((knex, { organizationId, currency, ranges }, dialect) => {
	const bound = (name: string) => `cast(r.value ->> '${name}' as bigint)`
	const sum = knex('report_sums as s')
		.where({ 's.organizationId': organizationId, 's.currency': currency })
		.whereRaw(`s.figure = r.value ->> 'figure' and s.at >= ${bound('from')} and s.at < ${bound('before')}`)
		.select(knex.raw(`'{"records":' || coalesce(sum(s.records), 0) || ',"cents":' || coalesce(sum(s.cents), 0) || '}'`))
	return knex
		.from(given(knex, dialect, ranges))
		.select({ json: sum })
		.orderBy('r.key')
})

/** The sum of each range. */
export const readSums = async (db: Db, organizationId: string, currency: string, ranges: readonly Range[]): Promise<Sum[]> =>
	(await db.column(sums, { organizationId, currency, ranges })).map((json) => JSON.parse(json) as Sum)

/** The databases would read all rows for the distinct ones: this steps from one to the next. */
const currencies = query<{ organizationId: string }, { json: string }>((knex, { organizationId }) => {
	const least = () => knex('report_sums as s').where({ 's.organizationId': organizationId }).min('s.currency')
	const next = least().whereRaw('s.currency > c.currency')
	const step = knex('c').whereNotNull('currency').select({ currency: next })
	return knex
		.withRecursive('c', ['currency'], least().unionAll([step]))
		.from('c')
		.whereNotNull('currency')
		.select({ json: 'currency' })
})

/** The currencies of which there are or were sums, by their codes. */
export const findCurrencies = (db: Db, organizationId: string): Promise<string[]> => db.column(currencies, { organizationId })
