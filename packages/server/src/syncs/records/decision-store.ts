// What callers have decided of links, until a run has done it.
import { asNumber, type Db, query } from '../../db/database.ts'
import { isAnyOf } from '../../db/records.ts'
import type { Ids, Link, LinkScope } from '../../mappings/link-store.ts'

const decided = query<
	LinkScope & { decidedFor: string; after: string; limit: number; isOut?: true },
	Pick<Link, 'recordId'> & { externalId: string }
>((knex, { decidedFor, after, limit, isOut, ...scope }) => {
	const rows = knex('sync_links').where({ ...scope, decidedFor })
	// What a run has still to bring in does not go out.
	const which = isOut === undefined ? rows.whereNotNull('decision') : rows.whereRaw(`decision in ('remit', 'applied')`)
	return which.where('recordId', '>', after).orderBy('recordId').limit(asNumber(limit)).select('recordId', 'externalId')
})

/** The next links of which a caller has decided something that no run of the sync has done yet; with `isOut` those whose record is to go out. */
export const findDecided = (
	db: Db,
	scope: LinkScope,
	decidedFor: string,
	{ after, limit, isOut }: { readonly after: string; readonly limit: number; readonly isOut: boolean },
) => db.all(decided, { ...scope, decidedFor, after, limit, ...(isOut && { isOut }) })

const undecide = query<Ids>((knex, { ids, ...scope }, dialect) =>
	knex('sync_links').where(scope).whereRaw(isAnyOf('externalId', dialect), [ids]).update(done),
)

/** What a run has done is no decision any more. */
export const done = { decision: null, decidedFor: null } as const

/** Lets go of what was decided of records that are gone. */
export const forgetDecisions = (db: Db, scope: LinkScope, ids: readonly string[]) => db.run(undecide, { ...scope, ids })
