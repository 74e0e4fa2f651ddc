import type { ApiKey, ResourceKind } from '../../generated/contract.ts'
import { blanks, fields } from '../../generated/tables.ts'
import { type NewKey, newKey, type Reach, type Scope } from '../../platform/auth/keys.ts'
import { newId } from '../../platform/base/ids.ts'
import { creatorOf } from '../../platform/base/origin.ts'
import { recordChange, type Writing } from '../../platform/db/audit-log.ts'
import { asNumber, type Db, query } from '../../platform/db/database.ts'
import { jsonColumn } from '../../platform/db/json.ts'
import { limitWithin, records } from '../../platform/db/records.ts'

export interface KeyFilter {
	/** Only keys that are limited to kinds among these. */
	readonly within?: readonly ResourceKind[]
}

export const apiKeys = records<ApiKey, KeyFilter, Pick<NewKey, 'hash'>>({
	name: 'api_key',
	table: 'api_keys',
	fields: fields.ApiKey,
	filter: (rows, _, { within, ...filters }, dialect) => limitWithin(rows.where(filters), within, dialect),
})

interface NewKeyInput {
	readonly name: string
	readonly scopes: readonly Scope[]
	readonly resources?: Reach
	readonly expiresAt?: number | null
}

/** Creates a key. The result is the only place that has the whole key. */
export async function createKey(
	write: Writing,
	organizationId: string,
	{ name, scopes, resources = null, expiresAt = null }: NewKeyInput,
): Promise<{ id: string } & NewKey> {
	const { key, hash, lastFour } = newKey()
	const id = newId('key')
	const { now } = write.origin
	const limits = { scopes: [...scopes], resources: resources && [...resources] }
	const createdBy = creatorOf(write.origin)
	const row: ApiKey = { ...blanks.ApiKey, id, organizationId, name, lastFour, ...limits, createdBy, createdAt: now, expiresAt }
	await apiKeys.insert(write, row, { hash })
	return { id, key, hash, lastFour }
}

interface WorkingKeys {
	readonly organizationId: string
	readonly since: number
	readonly limit: number
}

const working = query<WorkingKeys, { id: string }>((knex, { organizationId, since, limit }) =>
	knex('api_keys')
		.where({ organizationId })
		.where((rows) => rows.whereNull('revokedAt').orWhere('revokedAt', '>', since))
		.where((rows) => rows.whereNull('expiresAt').orWhere('expiresAt', '>', since))
		.limit(asNumber(limit))
		.select('id'),
)

/** The number of an organization's keys that have worked since a time, counted up to `limit`. */
export const countWorkingKeys = async (db: Db, which: WorkingKeys): Promise<number> => (await db.all(working, which)).length

const list = query<{ organizationId?: string }, { json: string }>((knex, { organizationId }, dialect) => {
	const keys = knex('api_keys')
		.select(jsonColumn(knex, dialect, fields.ApiKey))
		.orderBy(['organizationId', 'createdAt', 'id'])
	return organizationId ? keys.where({ organizationId }) : keys
})

/** The keys of an organization, or of all organizations. For the command line. */
export const listKeys = async (db: Db, organizationId?: string) =>
	(await db.column(list, { organizationId })).map((json) => JSON.parse(json) as ApiKey)

const owner = query<{ id: string }, { organizationId: string }>((knex, { id }) =>
	knex('api_keys').where({ id }).select('organizationId'),
)

/** Whose key it is. For the command line, which names no organization. */
export const findOwner = async (db: Db, id: string): Promise<string | undefined> => (await db.get(owner, { id }))?.organizationId

const revoke = query<{ organizationId: string; id: string; now: number }>((knex, { now, ...key }) =>
	knex('api_keys').where(key).whereNull('revokedAt').update({ revokedAt: now }),
)

/** Revokes a key; false when there is no such key, or it is already revoked. */
export async function revokeKey(write: Writing, id: string, organizationId: string): Promise<boolean> {
	const { now } = write.origin
	if ((await write.db.run(revoke, { id, now, organizationId })) === 0) return false
	const change = { action: 'deleted', before: { revokedAt: null }, after: { revokedAt: now } } as const
	await recordChange(write, { organizationId, resource: 'api_key', resourceId: id, ...change })
	return true
}

const expire = query<{ organizationId: string; id: string; expiresAt: number }>((knex, { organizationId, id, expiresAt }) =>
	knex('api_keys').where({ organizationId, id }).update({ expiresAt }),
)

/** Sets when a key that was read with `lock` stops working. */
export async function expireKey(
	write: Writing,
	{ organizationId, id, expiresAt: before }: ApiKey,
	expiresAt: number,
): Promise<void> {
	await write.db.run(expire, { organizationId, id, expiresAt })
	const change = { action: 'updated', before: { expiresAt: before }, after: { expiresAt } } as const
	await recordChange(write, { organizationId, resource: 'api_key', resourceId: id, ...change })
}
