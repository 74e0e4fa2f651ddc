import { type Db, query } from '../db/database.ts'

interface Key {
	readonly organizationId: string
	/** Days since 1970-01-01 in UTC. */
	readonly day: number
}

const add = query<Key & { bytes: number }, { bytes: number }>((knex, row) =>
	knex('stored_bytes')
		.insert(row)
		.onConflict(['organizationId', 'day'])
		.merge({ bytes: knex.raw('stored_bytes.bytes + excluded.bytes') })
		.returning('bytes'),
)

const find = query<Key, { bytes: number }>((knex, key) => knex('stored_bytes').where(key).select('bytes'))

const removeOld = query<Key>((knex, { organizationId, day }) =>
	knex('stored_bytes').where({ organizationId }).where('day', '<', day).delete(),
)

/** How long days are kept. */
const days = 31

/** Adds to an organization's day and removes its old days; returns what all processes have added to the day. */
export async function addStoredBytes(db: Db, organizationId: string, day: number, bytes: number): Promise<number> {
	await db.run(removeOld, { organizationId, day: day - days })
	return (await db.get(add, { organizationId, day, bytes }))?.bytes ?? bytes
}

export const findStoredBytes = async (db: Db, organizationId: string, day: number): Promise<number> =>
	(await db.get(find, { organizationId, day }))?.bytes ?? 0
