import { type NewKey, newKey, type Scope } from '../auth/keys.ts'
import { newId } from '../base/ids.ts'
import { type Db, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import type { ApiKey } from '../generated/contract.ts'
import { fields } from '../generated/tables.ts'

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

const revoke = query<{ organizationId?: string; id: string; now: number }>((knex, { now, ...key }) =>
	knex('api_keys').where(key).whereNull('revokedAt').update({ revokedAt: now }),
)

/** Revokes a key; false when there is none to revoke. The command line names no organization. */
export const revokeKey = async (db: Db, id: string, now: number, organizationId?: string) =>
	(await db.run(revoke, { id, now, organizationId })) > 0

interface PageQuery {
	readonly limit: number
	readonly offset: number
}

const page = query<PageQuery & { organizationId: string }, { json: string }>((knex, { organizationId, limit, offset }, dialect) =>
	knex('api_keys')
		.where({ organizationId })
		.select(jsonColumn(knex, dialect, fields.ApiKey))
		.orderBy([
			{ column: 'createdAt', order: 'desc' },
			{ column: 'id', order: 'desc' },
		])
		.limit(limit as never)
		.offset(offset as never),
)

const count = query<{ organizationId: string }, { total: number }>((knex, key) =>
	knex('api_keys').where(key).count({ total: '*' }),
)

/** A page of keys as JSON texts, newest first, and how many there are in all. */
export async function pageOfKeys(db: Db, organizationId: string, { limit, offset }: PageQuery) {
	const rows = await db.column(page, { organizationId, limit, offset })
	return { rows, total: (await db.get(count, { organizationId }))?.total ?? 0 }
}

const working = query<{ organizationId: string; id: string; now: number }, { json: string }>(
	(knex, { organizationId, id, now }, dialect) =>
		knex('api_keys')
			.where({ organizationId, id })
			.whereNull('revokedAt')
			.where((still) => still.whereNull('expiresAt').orWhere('expiresAt', '>', now))
			.select(jsonColumn(knex, dialect, fields.ApiKey))
			.forUpdate(),
)

/** A key that is neither expired nor revoked, locked until the transaction ends. */
export async function findWorkingKey(db: Db, organizationId: string, id: string, now: number): Promise<ApiKey | undefined> {
	const row = await db.get(working, { organizationId, id, now })
	return row && (JSON.parse(row.json) as ApiKey)
}

const expire = query<{ organizationId: string; id: string; expiresAt: number }>((knex, { organizationId, id, expiresAt }) =>
	knex('api_keys').where({ organizationId, id }).update({ expiresAt }),
)

export const expireKey = (db: Db, organizationId: string, id: string, expiresAt: number) =>
	db.run(expire, { organizationId, id, expiresAt })
