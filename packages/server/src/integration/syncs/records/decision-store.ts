// What callers have decided of links, until a run has done it.
import { asNumber, type Db, query } from '../../../platform/db/database.ts'
import type { Link, LinkScope } from '../../mappings/link-store.ts'

const decided = (condition: string) =>
	query<LinkScope & { decidedFor: string; after: string; limit: number }, Pick<Link, 'recordId'> & { externalId: string }>(
		(knex, { decidedFor, after, limit, ...scope }) =>
			knex('sync_links')
				.where({ ...scope, decidedFor })
				.whereRaw(condition)
				.where('recordId', '>', after)
				.orderBy('recordId')
				.limit(asNumber(limit))
				.select('recordId', 'externalId'),
	)

const queries = {
	all: decided('decision is not null'),
	/** The provider's record has to be brought in before Remit's goes out. */
	in: decided(`decision in ('policy', 'provider')`),
	out: decided(`decision in ('remit', 'applied')`),
}

/** The next links of which a caller has decided something that no run of the sync has done yet. */
export const findDecided = (
	db: Db,
	scope: LinkScope,
	decidedFor: string,
	{ after, limit, which }: { readonly after: string; readonly limit: number; readonly which: keyof typeof queries },
) => db.all(queries[which], { ...scope, decidedFor, after, limit })

/** What a run has done is no decision any more. */
export const done = { decision: null, decidedFor: null } as const
