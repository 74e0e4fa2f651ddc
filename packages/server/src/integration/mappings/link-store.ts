// Reads what links a provider's record with one of Remit: the ids, and hashes of what both sides last were. Syncs write it.
import { type Db, query } from '../../platform/db/database.ts'
import { isAnyOf } from '../../platform/db/records.ts'

export interface LinkScope {
	readonly organizationId: string
	readonly connectionId: string
	/** At the provider. */
	readonly object: string
	/** In Remit. */
	readonly kind: string
}

/** A write to the provider of which nobody knows yet what became of it. */
export interface Pending {
	readonly idempotencyKey: string
	readonly data: Readonly<Record<string, unknown>>
	readonly since: number
}

export type Overruled = Readonly<Record<string, string>>

export interface Link {
	readonly recordId: string
	/** Null until the provider has said it. */
	readonly externalId: string | null
	readonly externalHash: string | null
	readonly internalHash: string | null
	readonly pushedHash: string | null
	readonly remoteHash: string | null
	readonly pending: Pending | null
	/** Hashes of the provider's values that lost a conflict, by the fields of Remit; null for none. */
	readonly overruled: Overruled | null
	/** The provider's record that matches this one and could not be written to it, and the run that said so last. */
	readonly heldBy: string | null
	readonly heldRunId: string | null
	/** What a caller has decided of it and a run has not done yet; null for nothing. */
	readonly decision: Decision | null
	/** The sync that is to do it. */
	readonly decidedFor: string | null
	/** The last run that noted that it has read the provider's record. */
	readonly seenRunId: string | null
}

/**
 * `policy`: it was linked by hand, and the sync's policy decides where both sides differ; `provider` or `remit`: this side wins a conflict; `applied`: the run has
 * brought the provider's record in, and has still to look whether Remit's goes out.
 */
export type Decision = 'policy' | 'provider' | 'remit' | 'applied'

export type LinkRow = Omit<Link, 'pending' | 'overruled'> & {
	readonly pending: string | Pending | null
	readonly overruled: string | Overruled | null
}

export const linkColumns = [
	'recordId',
	'externalId',
	'externalHash',
	'internalHash',
	'pushedHash',
	'remoteHash',
	'pending',
	'overruled',
	'heldBy',
	'heldRunId',
	'decision',
	'decidedFor',
	'seenRunId',
] as const

export const linkOf = ({ pending, overruled, ...row }: LinkRow): Link => ({
	...row,
	pending: typeof pending === 'string' ? JSON.parse(pending) : pending,
	overruled: typeof overruled === 'string' ? JSON.parse(overruled) : overruled,
})

export type Ids = LinkScope & { readonly ids: readonly string[] }

const by = (column: 'externalId' | 'recordId') =>
	query<Ids, LinkRow>((knex, { ids, ...scope }, dialect) =>
		knex('sync_links')
			.where(scope)
			.whereRaw(isAnyOf(column, dialect), [ids])
			.select(...linkColumns),
	)

const byExternalId = by('externalId')
const byRecordId = by('recordId')

/** The links of some records, by their ids at the provider. */
export const findByExternalIds = async (db: Db, scope: LinkScope, ids: readonly string[]) =>
	new Map((await db.all(byExternalId, { ...scope, ids })).map((row) => [row.externalId as string, linkOf(row)]))

/** The links of some records, by their ids in Remit. */
export const findByRecordIds = async (db: Db, scope: LinkScope, ids: readonly string[]) =>
	new Map((await db.all(byRecordId, { ...scope, ids })).map((row) => [row.recordId, linkOf(row)]))

const linked = (from: 'externalId' | 'recordId', to: 'externalId' | 'recordId') =>
	query<Omit<Ids, 'kind'> & { readonly kinds: readonly string[] }, { from: string; to: string }>(
		(knex, { ids, kinds, ...scope }, dialect) =>
			knex('sync_links')
				.where(scope)
				.whereRaw(isAnyOf('kind', dialect), [kinds])
				.whereRaw(isAnyOf(from, dialect), [ids])
				.whereNotNull('externalId')
				.select({ from, to }),
	)

const toRecords = linked('externalId', 'recordId')
const toExternal = linked('recordId', 'externalId')

/** The ids of the other sides of links, whatever is linked with the provider's object: the records in Remit, or with `isOutbound` those at the provider. */
export async function findLinkedIds(
	db: Db,
	{ kinds, ids, ...scope }: Omit<LinkScope, 'kind'> & { readonly kinds: readonly string[]; readonly ids: readonly string[] },
	isOutbound: boolean,
): Promise<Map<string, string>> {
	const rows = await db.all(isOutbound ? toExternal : toRecords, { ...scope, kinds, ids })
	return new Map(rows.map(({ from, to }) => [from, to]))
}
