import type { Session, User } from '../../generated/contract.ts'
import { fields } from '../../generated/tables.ts'
import { hashOfToken } from '../../platform/auth/session-cookie.ts'
import { idleMs, longestMs, removeEnded } from '../../platform/auth/session-store.ts'
import { newId } from '../../platform/base/ids.ts'
import type { Writing } from '../../platform/db/audit-log.ts'
import { records } from '../../platform/db/records.ts'
import { updateLastSignIn } from '../people/store.ts'

export interface SessionFilter {
	readonly userId?: string
	/** Only sessions that have not ended by then. */
	readonly liveAt: number
}

export const sessions = records<Session, SessionFilter, { readonly hash: string }>({
	name: 'session',
	table: 'sessions',
	fields: fields.Session,
	filter: (rows, knex, { liveAt, ...filters }) =>
		rows
			.where(filters)
			.where('expiresAt', '>', liveAt)
			.where('lastSeenAt', '>', knex.raw(`cast(? as bigint) - ${idleMs}`, [liveAt])),
})

const longestUserAgent = 300

/** Begins a session of a person, and removes those of theirs that have ended. */
export async function beginSession(
	write: Writing,
	user: User,
	{ token, userAgent }: { token: string; userAgent: string | null },
): Promise<Session> {
	const { db, origin } = write
	const { now, address } = origin
	const { organizationId, id: userId } = user
	const session = {
		organizationId,
		id: newId('ses'),
		userId,
		userAgent: userAgent?.slice(0, longestUserAgent).toWellFormed() ?? null,
		address,
		createdAt: now,
		lastSeenAt: now,
		expiresAt: now + longestMs,
	}
	await removeEnded(db, organizationId, userId, now)
	await sessions.insert(write, session, { hash: hashOfToken(token) })
	await updateLastSignIn(db, user, now)
	return session
}
