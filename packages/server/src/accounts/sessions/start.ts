// Begins the session of somebody who has shown who they are: signing in, accepting an invitation, or the set-up.

import type { CurrentSession, Session, User } from '../../generated/contract.ts'
import { scopesOfRole } from '../../platform/auth/roles.ts'
import { newToken, setCookie } from '../../platform/auth/session-cookie.ts'
import { longestMs } from '../../platform/auth/session-store.ts'
import type { Db } from '../../platform/db/database.ts'
import type { SelfManagedContext } from '../../platform/http/handler.ts'
import { beginSession } from './store.ts'

export const currentSession = ({ id, expiresAt }: Session, user: User): CurrentSession => ({
	id,
	user,
	scopes: [...scopesOfRole(user.role)],
	expiresAt,
})

/** Begins a session in the transaction that `findPerson` reads or makes the person in, and answers with its cookie. */
export async function startSession(
	{ commit, origin, services }: SelfManagedContext,
	userAgent: string | null,
	findPerson: (tx: Db) => Promise<User>,
) {
	return commit(async (tx) => {
		const user = await findPerson(tx)
		const token = newToken()
		const own = { ...origin, actor: { type: 'user' as const, id: user.id } }
		const session = await beginSession({ db: tx, origin: own }, user, { token, userAgent })
		return {
			status: 201 as const,
			headers: { 'Set-Cookie': setCookie(services.baseUrl, token, longestMs / 1000) },
			body: { data: currentSession(session, { ...user, lastSignInAt: origin.now }) },
		}
	})
}

/** By whom a password is checked or made: each network has a share of the places. */
export const visitorOf = ({ limits, origin }: Pick<SelfManagedContext, 'limits' | 'origin'>): string =>
	limits.visitor(origin.address ?? undefined)
