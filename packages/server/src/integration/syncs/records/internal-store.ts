// Which records of Remit go out: all of a kind, by id.
import { asNumber, type Db, query } from '../../../platform/db/database.ts'
import { isAnyOf } from '../../../platform/db/records.ts'
import type { LinkScope } from '../../mappings/link-store.ts'
import type { InternalObject } from '../../mappings/systems.ts'
import { type Part, withinPart } from './lost-store.ts'

interface After {
	readonly organizationId: string
	readonly after: string
	readonly limit: number
}

const companies = query<After, { id: string }>((knex, { organizationId, after, limit }) =>
	knex('companies')
		.where({ organizationId })
		.whereNull('deletedAt')
		.where('id', '>', after)
		.orderBy('id')
		.limit(asNumber(limit))
		.select('id'),
)

const invoices = query<After, { id: string }>((knex, { organizationId, after, limit }) =>
	knex('invoices').where({ organizationId }).where('id', '>', after).orderBy('id').limit(asNumber(limit)).select('id'),
)

/** The next ids after one. */
export const findIds = async (db: Db, kind: InternalObject, after: After): Promise<string[]> =>
	(await db.all(kind === 'company' ? companies : invoices, after)).map(({ id }) => id)

interface OfConnection {
	readonly organizationId: string
	readonly connectionId: string
	readonly ids: readonly string[]
}

const own = query<OfConnection, { id: string; mappingId: string }>((knex, { organizationId, connectionId, ids }, dialect) =>
	knex
		.from(knex('sync_runs').where({ organizationId }).whereRaw(isAnyOf('id', dialect), [ids]).as('runs'))
		.join('syncs', { 'syncs.organizationId': 'runs.organizationId', 'syncs.id': 'runs.syncId' })
		.where('syncs.connectionId', connectionId)
		.select('runs.id', 'syncs.mappingId'),
)

/** Which of these runs are of a connection, deleted syncs included, with the mapping of the sync. */
export const findOwnRuns = async (db: Db, { ids, ...key }: OfConnection) => (ids.length === 0 ? [] : db.all(own, { ...key, ids }))

/** Marks links of which no row of a table is left. */
const lostIn = (table: string, isLive = '') =>
	query<LinkScope & Part & { runId: string }>((knex, { runId, after, upTo, ...scope }) =>
		withinPart(knex('sync_links').where(scope), after, upTo)
			.whereNotNull('externalId')
			.whereRaw(
				`not exists (select 1 from ${table} r where r."organizationId" = sync_links."organizationId" and r.id = sync_links."recordId" ${isLive})`,
			)
			.update({ goneRunId: runId }),
	)

const lostCompanies = lostIn('companies', 'and r."deletedAt" is null')
const lostInvoices = lostIn('invoices')

/** Marks the links of a part whose record of Remit is gone. */
export const markLost = (db: Db, scope: LinkScope, part: Part, runId: string) =>
	db.run(scope.kind === 'company' ? lostCompanies : lostInvoices, { ...scope, ...part, runId })
