// The syncs that the webhook of a provider is about. Webhooks are many: what is due already costs one read.
import type { Knex } from 'knex'
import { type Db, type Dialect, type Placeholders, query } from '../../platform/db/database.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import type { SyncKey } from './state-store.ts'

interface Account {
	readonly provider: string
	readonly externalId: string
	readonly now: number
}

/** Inbound syncs of connections without a run that is due by a webhook, and without a mark that another begins after the one under way. */
function waiting(knex: Knex, now: Placeholders<Account>['now'], dialect: Dialect) {
	return knex('syncs as s')
		.join('connections as c', { 'c.organizationId': 's.organizationId', 'c.id': 's.connectionId' })
		.leftJoin('jobs as j', (on) =>
			on
				.on('j.organizationId', 's.organizationId')
				.andOn('j.resourceId', 's.id')
				.andOn('j.kind', knex.raw(`'${jobKinds.syncWebhook}'`)),
		)
		.whereNot('c.status', 'disabled')
		.whereNot('s.direction', 'outbound')
		.whereNot('s.status', 'paused')
		.whereNull('s.deletedAt')
		.whereNull('s.webhookAt')
		.whereRaw(`(j."dueAt" is null or j."dueAt" > ${dialect === 'sqlite' ? '+?' : '?'})`, [now])
		.select('s.organizationId', 's.id')
}

const ofAccount = query<Account, SyncKey>((knex, { provider, externalId, now }, dialect) => {
	const account = dialect === 'sqlite' ? `json_extract(c.account, '$.externalId')` : `(c.account ->> 'externalId')`
	return waiting(knex, now, dialect).where('c.provider', provider).whereRaw(`${account} = ?`, [externalId])
})

/** Of all connections to an account, whoever they belong to. */
export const findSyncsOfAccount = (db: Db, account: Account) => db.all(ofAccount, account)

interface OfConnection {
	readonly organizationId: string
	readonly connectionId: string
	readonly now: number
}

const ofConnection = query<OfConnection, SyncKey>((knex, { organizationId, connectionId, now }, dialect) =>
	waiting(knex, now, dialect).where({ 'c.organizationId': organizationId, 'c.id': connectionId }),
)

export const findSyncsOfConnection = (db: Db, key: OfConnection) => db.all(ofConnection, key)

const mark = query<SyncKey & { now: number }>((knex, { now, ...key }) => knex('syncs').where(key).update({ webhookAt: now }))

/** Notes that a run is to begin after the one that is under way. The caller holds the sync's lock. */
export const markSync = (db: Db, { organizationId, id }: SyncKey, now: number) => db.run(mark, { organizationId, id, now })

const unmark = query<SyncKey>((knex, key) => knex('syncs').where(key).whereNotNull('webhookAt').update({ webhookAt: null }))

/** Takes the mark away; whether there was one. The caller holds the sync's lock. */
export const unmarkSync = async (db: Db, { organizationId, id }: SyncKey): Promise<boolean> =>
	(await db.run(unmark, { organizationId, id })) > 0
