// Sessions as rows: finding the one of a request, beginning and ending them, and when each was last used.

import type { UserRole } from '../../generated/contract.ts'
import { type Db, query } from '../db/database.ts'
import { organizationColumns, parseOrganization } from './store.ts'

/** A session ends after so long without use. */
export const idleMs = 7 * 86_400_000
/** However much it is used, a session ends after so long. */
export const longestMs = 30 * 86_400_000

interface Row {
	readonly id: string
	readonly userId: string
	readonly role: UserRole
	readonly lastSeenAt: number
	readonly expiresAt: number
	readonly json: string
}

const byHash = query<{ hash: string }, Row>((knex, { hash }, dialect) =>
	knex('sessions as s')
		.join('users as u', { 'u.organizationId': 's.organizationId', 'u.id': 's.userId' })
		.join('organizations as o', 'o.organizationId', 's.organizationId')
		.where('s.hash', hash)
		.whereNull('u.removedAt')
		.select('s.id', 's.userId', 'u.role', 's.lastSeenAt', 's.expiresAt')
		.select(organizationColumns(knex, dialect)),
)

/** The session with this hash, with its person's role and the organization. */
export async function findSessionByHash(db: Db, hash: string) {
	const row = await db.get(byHash, { hash })
	return row && { ...row, organization: parseOrganization(row.json) }
}

interface Seen {
	readonly organizationId: string
	readonly id: string
	readonly lastSeenAt: number
}

const seen = query<Seen>((knex, { organizationId, id, lastSeenAt }) =>
	knex('sessions').where({ organizationId, id }).update({ lastSeenAt }),
)

export const updateLastSeen = (db: Db, organizationId: string, id: string, lastSeenAt: number) =>
	db.run(seen, { organizationId, id, lastSeenAt })

const addresses = query<{ organizationId: string; userId: string }, { address: string | null }>((knex, of) =>
	knex('sessions').where(of).distinct('address'),
)

/** Where a person has signed in: a session that has ended stays until the next one begins. */
export const findAddresses = async (db: Db, organizationId: string, userId: string) =>
	(await db.all(addresses, { organizationId, userId })).map(({ address }) => address)

interface OfPerson {
	readonly organizationId: string
	readonly userId: string
	/** The session that goes on. */
	readonly except?: string
}

const ending = query<OfPerson>((knex, { except, ...of }) => {
	const rows = knex('sessions').where(of).delete()
	return except === undefined ? rows : rows.whereNot('id', except)
})

/** Ends the sessions of a person. */
export const endSessions = (db: Db, of: OfPerson) => db.run(ending, of)

const removal = query<{ organizationId: string; userId: string; now: number; seenBefore: number }>(
	(knex, { organizationId, userId, now, seenBefore }) =>
		knex('sessions')
			.where({ organizationId, userId })
			.where((rows) => rows.where('expiresAt', '<=', now).orWhere('lastSeenAt', '<=', seenBefore))
			.delete(),
)

/** Removes the sessions of a person that have ended by themselves. */
export const removeEnded = (db: Db, organizationId: string, userId: string, now: number) =>
	db.run(removal, { organizationId, userId, now, seenBefore: now - idleMs })
