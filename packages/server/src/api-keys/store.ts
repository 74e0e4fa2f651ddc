import { type NewKey, newKey, type Scope } from '../auth/keys.ts'
import { newId } from '../base/ids.ts'
import { type Db, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'
import { records } from '../db/records.ts'
import type { ApiKey } from '../generated/contract.ts'
import { blanks, fields } from '../generated/tables.ts'

export const apiKeys = records<ApiKey, object, Pick<NewKey, 'hash'>>({
	name: 'api_key',
	table: 'api_keys',
	fields: fields.ApiKey,
})

/** Creates a key. The result is the only place that has the whole key. */
export async function createKey(
	db: Db,
	organizationId: string,
	{ name, scopes, now, expiresAt = null }: { name: string; scopes: readonly Scope[]; now: number; expiresAt?: number | null },
): Promise<{ id: string } & NewKey> {
	const { key, hash, lastFour } = newKey()
	const id = newId('key')
	const row = { ...blanks.ApiKey, id, organizationId, name, lastFour, scopes: [...scopes], createdAt: now, expiresAt }
	await apiKeys.insert(db, { ...row, hash })
	return { id, key, hash, lastFour }
}

const list = query<{ organizationId?: string }, { json: string }>((knex, { organizationId }, dialect) => {
	const keys = knex('api_keys')
		.select(jsonColumn(knex, dialect, fields.ApiKey))
		.orderBy(['organizationId', 'createdAt', 'id'])
	return organizationId ? keys.where({ organizationId }) : keys
})

/** The keys of an organization, or of all organizations. For the command line. */
export const listKeys = async (db: Db, organizationId?: string) =>
	(await db.column(list, { organizationId })).map((json) => JSON.parse(json) as ApiKey)

const revoke = query<{ organizationId?: string; id: string; now: number }>((knex, { now, ...key }) =>
	knex('api_keys').where(key).whereNull('revokedAt').update({ revokedAt: now }),
)

/** Revokes a key; false when there is no such key, or it is already revoked. The command line names no organization. */
export const revokeKey = async (db: Db, id: string, now: number, organizationId?: string) =>
	(await db.run(revoke, { id, now, organizationId })) > 0

const expire = query<{ organizationId: string; id: string; expiresAt: number }>((knex, { organizationId, id, expiresAt }) =>
	knex('api_keys').where({ organizationId, id }).update({ expiresAt }),
)

export const expireKey = (db: Db, organizationId: string, id: string, expiresAt: number) =>
	db.run(expire, { organizationId, id, expiresAt })
