// Finds the stored records that a mapped one matches.

import { sortName } from '../../platform/base/search-words.ts'
import { asNumber, type Db, query } from '../../platform/db/database.ts'
import type { InternalObject } from './systems.ts'

/** The fields by which stored records are found. Each has an index. */
const matchKeys: Readonly<Record<InternalObject, readonly string[]>> = {
	company: ['name', 'domain', 'vatId', 'billingEmail'],
	invoice: ['invoiceNumber'],
}

export const matchKeysOf = (object: InternalObject): readonly string[] => matchKeys[object]

interface Found {
	readonly id: string
}

type Columns = Readonly<Record<string, string>>

interface Search {
	readonly [column: string]: string | number
	readonly limit: number
}

/** Two are enough to know that several match; the oldest first. */
const two = 2

const companiesLike = query<Search, Found>((knex, { limit, ...columns }) =>
	knex('companies').where(columns).whereNull('deletedAt').orderBy(['createdAt', 'id']).limit(asNumber(limit)).select('id'),
)

const invoicesLike = query<Search, Found>((knex, { limit, ...columns }) =>
	knex('invoices').where(columns).orderBy(['createdAt', 'id']).limit(asNumber(limit)).select('id'),
)

/** The ids of the records that have these values; of several, the oldest two, or as many as are asked for. */
export async function findMatches(
	db: Db,
	object: InternalObject,
	organizationId: string,
	values: Columns,
	limit = two,
): Promise<string[]> {
	const { name } = values
	const byName = object === 'company' && name !== undefined && { sortName: sortName(name) }
	const columns = { organizationId, ...values, ...byName, limit }
	return (await db.all(object === 'company' ? companiesLike : invoicesLike, columns)).map(({ id }) => id)
}
