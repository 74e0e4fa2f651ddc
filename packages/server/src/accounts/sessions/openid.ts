// Who signs in at the OpenID Connect provider is found by the identity there, or the first time by the address that the provider has
// verified: as somebody who is here, or as somebody who is invited. The provider itself gives nobody a role.

import type { User } from '../../generated/contract.ts'
import { newToken } from '../../platform/auth/session-cookie.ts'
import type { Origin } from '../../platform/base/origin.ts'
import type { Writing } from '../../platform/db/audit-log.ts'
import type { Database, Db } from '../../platform/db/database.ts'
import type { Identity } from '../../platform/outside/providers/openid.ts'
import { findByIdentity, findUnlinked, linkIdentity } from '../people/identity-store.ts'
import { takeInvitationOf } from '../people/invitation-store.ts'
import { createPerson } from '../people/store.ts'
import { beginSession } from './store.ts'

interface Entry {
	readonly identity: Identity
	readonly userAgent: string | null
	readonly origin: Origin
}

/** Begins a session; returns its secret, or why there is none. */
export async function enterByIdentity(db: Database, entry: Entry): Promise<{ token: string } | 'unverified' | 'unknown'> {
	const { identity, userAgent, origin } = entry
	const known = await findPerson(db, identity)
	const token = newToken()
	const entered = await db.transaction(async (tx) => {
		const user = known ? await linked(tx, known, identity) : await joined({ db: tx, origin }, identity)
		if (!user) return false
		await beginSession({ db: tx, origin: { ...origin, actor: { type: 'user', id: user.id } } }, user, { token, userAgent })
		return true
	}, known)
	if (entered) return { token }
	return identity.email === null ? 'unverified' : 'unknown'
}

const findPerson = async (db: Db, identity: Identity): Promise<User | undefined> =>
	(await findByIdentity(db, identity)) ?? (identity.email === null ? undefined : await findUnlinked(db, identity.email))

const linked = async (db: Db, user: User, identity: Identity) => ((await linkIdentity(db, user, identity)) ? user : undefined)

/** The person that an invitation makes of who has its address; undefined without one. */
async function joined(write: Writing, { issuer, subject, email, name }: Identity): Promise<User | undefined> {
	const invitation = email === null ? undefined : await takeInvitationOf(write, email)
	if (!invitation) return undefined
	const { organizationId, email: address, role } = invitation
	const shown = name ?? address.slice(0, address.lastIndexOf('@'))
	return createPerson(write, { organizationId, email: address, name: shown, role, passwordHash: null, issuer, subject })
}
