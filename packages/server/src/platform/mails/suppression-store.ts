// Addresses to which the server sends no mail. One list for all organizations: they share the sending address and its name with
// other mail servers, which every further mail to such an address would harm.
import { type Db, query } from '../db/database.ts'
import { isAnyOf } from '../db/records.ts'
import { addressKey } from '../outside/mail/addresses.ts'

export const suppressionReasons = ['bounce', 'complaint'] as const

export interface SuppressedAddress {
	/** As `addressKey` writes it. */
	readonly address: string
	readonly reason: (typeof suppressionReasons)[number]
	readonly suppressedAt: number
}

const put = query<SuppressedAddress>((knex, row) => knex('suppressed_addresses').insert(row).onConflict('address').merge())

export const suppress = (db: Db, { address, ...row }: SuppressedAddress) => db.run(put, { ...row, address: addressKey(address) })

const remove = query<{ address: string }>((knex, key) => knex('suppressed_addresses').where(key).delete())

/** False when the address was not suppressed. */
export const unsuppress = async (db: Db, address: string) => (await db.run(remove, { address: addressKey(address) })) > 0

const all = query<object, SuppressedAddress>((knex) => knex('suppressed_addresses').select('*').orderBy('address'))

export const listSuppressed = (db: Db) => db.all(all, {})

const among = query<{ addresses: string[] }, SuppressedAddress>((knex, { addresses }, dialect) =>
	knex('suppressed_addresses').whereRaw(isAnyOf('address', dialect), [addresses]).select('*'),
)

/** The suppressed ones of the addresses, by `addressKey`. */
export async function findSuppressed(db: Db, addresses: readonly string[]): Promise<Map<string, SuppressedAddress>> {
	const rows = await db.all(among, { addresses: addresses.map(addressKey) })
	return new Map(rows.map((row) => [row.address, row]))
}
