// Links that ended with the deletion of both records.
import { type Db, query } from '../../../platform/db/database.ts'
import { isAnyOf } from '../../../platform/db/records.ts'
import type { Ids, LinkScope } from '../../mappings/link-store.ts'

interface Ended {
	readonly externalId: string
	readonly recordId: string
}

const insertion = query<LinkScope & Ended & { endedAt: number }>((knex, row) =>
	knex('sync_ended_links')
		.insert(row)
		.onConflict(['organizationId', 'connectionId', 'object', 'kind', 'externalId'])
		.merge(['recordId', 'endedAt']),
)

/** Notes which record was linked with one of the provider until both were deleted. */
export const noteEnded = (db: Db, scope: LinkScope, ended: Ended, now: number) =>
	db.run(insertion, { ...scope, ...ended, endedAt: now })

const byExternalId = query<Ids, Ended>((knex, { ids, ...scope }, dialect) =>
	knex('sync_ended_links').where(scope).whereRaw(isAnyOf('externalId', dialect), [ids]).select('externalId', 'recordId'),
)

/** The records that were linked with these of the provider, by their ids there. */
export const findEnded = async (db: Db, scope: LinkScope, ids: readonly string[]): Promise<Map<string, string>> =>
	new Map((await db.all(byExternalId, { ...scope, ids })).map(({ externalId, recordId }) => [externalId, recordId]))

const removal = query<LinkScope & { externalId: string }>((knex, key) => knex('sync_ended_links').where(key).delete())

/** Once a record of the provider is linked anew, by whatever way, its old link says nothing any more. */
export const forgetEnded = (db: Db, { organizationId, connectionId, object, kind }: LinkScope, externalId: string) =>
	db.run(removal, { organizationId, connectionId, object, kind, externalId })
