// The bytes of logos, each stored once. A logo that no sent invoice and no e-mail shows goes when another takes its place.
import type { Origin } from '../../platform/base/origin.ts'
import { type Db, query } from '../../platform/db/database.ts'

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

const used = query<Key, { sha256: string }>((knex, key) => knex('logos').where(key).whereNotNull('usedAt').select('sha256'))

/** Keeps the logo for the invoices that are sent with it; false when it is gone, because another has just taken its place. */
export const markLogoUsed = async (db: Db, key: Key, usedAt: number): Promise<boolean> =>
	(await db.run(use, { ...key, usedAt })) === 1 || (await db.get(used, key)) !== undefined

const removeUnused = query<Key>((knex, key) => knex('logos').where(key).whereNull('usedAt').delete())

export const removeUnusedLogo = (db: Db, key: Key) => db.run(removeUnused, key)
