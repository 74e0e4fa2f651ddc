// What a request needs to know of its key, and when keys were last used.
import { type Db, query } from '../db/database.ts'
import type { TaxRounding } from '../generated/contract.ts'

/** A key as it is stored, with what a request needs to know of its organization. */
export interface StoredKey {
	readonly organizationId: string
	readonly id: string
	readonly scopes: string
	readonly expiresAt: number | null
	readonly revokedAt: number | null
	readonly timeZone: string
	readonly taxRounding: TaxRounding
	readonly defaultCurrency: string
	readonly paymentTerms: string | null
}

const byHash = query<{ hash: string }, StoredKey>((knex, { hash }) =>
	knex('api_keys as k')
		.join('organizations as o', 'o.organizationId', 'k.organizationId')
		.where('k.hash', hash)
		.select('k.organizationId', 'k.id', 'k.scopes', 'k.expiresAt', 'k.revokedAt')
		.select('o.timeZone', 'o.taxRounding', 'o.defaultCurrency', 'o.paymentTerms'),
)

export const findKeyByHash = (db: Db, hash: string) => db.get(byHash, { hash })

const used = query<{ organizationId: string; id: string; lastUsedAt: number }>((knex, { organizationId, id, lastUsedAt }) =>
	knex('api_keys').where({ organizationId, id }).update({ lastUsedAt }),
)

export const updateLastUsed = (db: Db, organizationId: string, id: string, lastUsedAt: number) =>
	db.run(used, { organizationId, id, lastUsedAt })
