// Finds the key of a request with its organization, and stores when keys were last used.
import type { Knex } from 'knex'
import type { OrganizationSettings, ResourceKind } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { type Db, type Dialect, query } from '../db/database.ts'
import { jsonColumn } from '../db/json.ts'

interface Row {
	readonly id: string
	/** JSON. */
	readonly scopes: string
	/** JSON. */
	readonly resources: string | null
	readonly expiresAt: number | null
	readonly revokedAt: number | null
	/** The settings of the key's organization. */
	readonly json: string
}

/** The settings of the organization `o` of a query, as the column `json`. */
export function organizationColumns(knex: Knex, dialect: Dialect): Knex.Raw {
	const columns = Object.keys(fields.OrganizationSettings).map((field) => [
		field,
		knex.raw('??', [field === 'id' ? 'o.organizationId' : `o.${field}`]),
	])
	return jsonColumn(knex, dialect, fields.OrganizationSettings, Object.fromEntries(columns))
}

export const parseOrganization = (json: string) => JSON.parse(json) as OrganizationSettings

const byHash = query<{ hash: string }, Row>((knex, { hash }, dialect) =>
	knex('api_keys as k')
		.join('organizations as o', 'o.organizationId', 'k.organizationId')
		.where('k.hash', hash)
		.select('k.id', knex.raw('cast(k.scopes as text) as scopes'), knex.raw('cast(k.resources as text) as resources'))
		.select('k.expiresAt', 'k.revokedAt')
		.select(organizationColumns(knex, dialect)),
)

/** The key with this hash, and its organization. */
export async function findKeyByHash(db: Db, hash: string) {
	const row = await db.get(byHash, { hash })
	if (!row) return undefined
	const { json, scopes, resources, ...key } = row
	const reach = resources === null ? null : (JSON.parse(resources) as ResourceKind[])
	return { ...key, scopes: JSON.parse(scopes) as string[], reach, organization: parseOrganization(json) }
}

const used = query<{ organizationId: string; id: string; lastUsedAt: number }>((knex, { organizationId, id, lastUsedAt }) =>
	knex('api_keys').where({ organizationId, id }).update({ lastUsedAt }),
)

export const updateLastUsed = (db: Db, organizationId: string, id: string, lastUsedAt: number) =>
	db.run(used, { organizationId, id, lastUsedAt })
