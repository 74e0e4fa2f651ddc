import { type Db, query } from '../db.ts'
import type { TaxRounding } from '../generated/contract.ts'
import { newId } from '../ids.ts'
import { type NewKey, newKey, type Scope } from './keys.ts'

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

interface KeyRow {
	readonly organizationId: string
	readonly id: string
	readonly name: string
	readonly hash: string
	readonly lastFour: string
	readonly scopes: readonly Scope[]
	readonly createdAt: number
	readonly expiresAt: number | null
}

const insert = query<KeyRow>((knex, row) => knex('api_keys').insert(row))

/** Creates a key and returns it whole, the only time it is known. */
export async function insertKey(
	db: Db,
	organizationId: string,
	options: { name: string; scopes: readonly Scope[]; now: number; expiresAt?: number | null },
): Promise<{ id: string } & NewKey> {
	const created = newKey()
	const id = newId('key')
	await db.run(insert, {
		organizationId,
		id,
		name: options.name,
		hash: created.hash,
		lastFour: created.lastFour,
		scopes: options.scopes,
		createdAt: options.now,
		expiresAt: options.expiresAt ?? null,
	})
	return { id, ...created }
}

export interface ListedKey {
	readonly organizationId: string
	readonly id: string
	readonly name: string
	readonly lastFour: string
	readonly scopes: string
	readonly createdAt: number
	readonly expiresAt: number | null
	readonly lastUsedAt: number | null
	readonly revokedAt: number | null
}

const list = query<{ organizationId?: string }, ListedKey>((knex, { organizationId }) => {
	const keys = knex('api_keys')
		.select('organizationId', 'id', 'name', 'lastFour', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt', 'revokedAt')
		.orderBy(['organizationId', 'createdAt', 'id'])
	return organizationId ? keys.where({ organizationId }) : keys
})

export const listKeys = (db: Db, organizationId?: string) => db.all(list, { organizationId })

const revoke = query<{ id: string; now: number }>((knex, { id, now }) =>
	knex('api_keys').where({ id }).whereNull('revokedAt').update({ revokedAt: now }),
)

/** Revokes a key; false when there is none to revoke. */
export const revokeKey = async (db: Db, id: string, now: number) => (await db.run(revoke, { id, now })) > 0

const used = query<{ organizationId: string; id: string; lastUsedAt: number }>((knex, { organizationId, id, lastUsedAt }) =>
	knex('api_keys').where({ organizationId, id }).update({ lastUsedAt }),
)

export const updateLastUsed = (db: Db, organizationId: string, id: string, lastUsedAt: number) =>
	db.run(used, { organizationId, id, lastUsedAt })
