// The bytes of logos, each stored once. A logo that no sent invoice shows goes when another takes its place.
import type { Origin } from '../base/origin.ts'
import { type Db, query } from '../db/database.ts'

interface Key {
	readonly organizationId: string
	readonly sha256: string
}

const one = query<Key, { bytes: Uint8Array }>((knex, key) => knex('logos').where(key).select('bytes'))

export const findLogo = async (db: Db, key: Key) => (await db.get(one, key))?.bytes

const insert = query<Key & { bytes: Uint8Array; createdAt: number }>((knex, row) =>
	knex('logos').insert(row).onConflict(['organizationId', 'sha256']).ignore(),
)

export async function saveLogo(
	db: Db,
	{ now, meter }: Pick<Origin, 'now' | 'meter'>,
	key: Key,
	bytes: Uint8Array,
): Promise<void> {
	if (meter) meter.bytes += bytes.byteLength
	await db.run(insert, { ...key, bytes, createdAt: now })
}

const use = query<Key & { usedAt: number }>((knex, { usedAt, ...key }) =>
	knex('logos').where(key).whereNull('usedAt').update({ usedAt }),
)

/** Keeps the logo for the invoices that were sent with it. */
export const markLogoUsed = (db: Db, key: Key, usedAt: number) => db.run(use, { ...key, usedAt })

const removeUnused = query<Key>((knex, key) => knex('logos').where(key).whereNull('usedAt').delete())

export const removeUnusedLogo = (db: Db, key: Key) => db.run(removeUnused, key)
