import { hashPassword, verifyPassword } from '../../platform/auth/passwords.ts'
import { newToken } from '../../platform/auth/session-cookie.ts'
import { fieldError } from '../../platform/base/errors.ts'
import { takeChangeTime } from '../../platform/db/write-context.ts'
import type { Handler, SelfManagedContext } from '../../platform/http/handler.ts'
import { findSuppressed } from '../../platform/mails/suppression-store.ts'
import type { LinkEmail } from '../../platform/rendering/link-email.ts'
import { requireOrganization } from '../organizations/store.ts'
import { resetPath } from '../people/links.ts'
import { mailLink } from '../people/mails.ts'
import { findPasswordHash, hasStill, listByAddress, setPassword, users } from '../people/store.ts'
import { requireReset, storeReset, takeReset } from './password-store.ts'
import { visitorOf } from './start.ts'

const done = { status: 200 as const, body: { ok: true as const } }

export const change: Handler<'session.password.change'> = async ({ body, caller }, context) => {
	const { db, limits, callers } = context
	const { organizationId, id, session } = caller
	const visitor = visitorOf(context)
	await limits.signIns.attempt(visitor, id)
	const known = await findPasswordHash(db, organizationId, id)
	const wrong = () => fieldError('wrong_password', '/currentPassword', 'This is not your password.')
	if (!(await verifyPassword(body.currentPassword, known, visitor))) throw wrong()
	await limits.signIns.succeeded(visitor, id)
	const hash = await hashPassword(body.password, visitor)
	const answer = await context.commit(async (tx) => {
		if (!(await hasStill(tx, { organizationId, id }, known))) throw wrong()
		await setPassword({ db: tx, origin: context.origin }, { organizationId, id }, hash, session.id)
		return done
	})
	callers.forget(organizationId)
	return answer
}

export const reset: Handler<'session.password.reset'> = async ({ body }, context) => {
	// After the answer, which takes as long for an address that nobody has.
	setImmediate(() => {
		mailResets(context, body.email.toLowerCase()).catch((err) =>
			context.log.error({ err }, 'a link to set a new password could not be mailed'),
		)
	})
	return done
}

/** Mails a link to each person who has the address. */
async function mailResets(context: SelfManagedContext, email: string): Promise<void> {
	const { db, now, services, limits } = context
	if (!(await limits.signIns.mayMail(visitorOf(context), email))) return
	if ((await findSuppressed(db, [email])).size > 0) return
	for (const { organizationId, id: userId } of await listByAddress(db, email)) {
		const token = newToken()
		await db.transaction((tx) => storeReset(tx, { organizationId, userId }, token, now), { organizationId })
		const organization = await requireOrganization(db, organizationId)
		const content = resetEmail(organization.name, `${services.baseUrl}${resetPath(token)}`)
		await mailLink(db, services, { kind: 'password_reset', resourceId: userId, organization, to: email, email: content, now })
	}
}

const resetEmail = (organizationName: string, url: string): LinkEmail => ({
	subject: 'Set a new password for Remit',
	paragraphs: [`Somebody, probably you, asked for a new password for your account at ${organizationName}.`],
	link: { label: 'Set a new password', url },
	note: 'The link works once, for an hour. If you did not ask for it, leave it: your password stays as it is.',
})

export const set: Handler<'session.password.set'> = async ({ body }, context) => {
	const { db, now, limits } = context
	// Before the costly hash.
	const { organizationId } = await requireReset(db, body.token, now)
	const visitor = visitorOf(context)
	const hash = await hashPassword(body.password, visitor)
	const answer = await context.commit(async (tx, begun) => {
		// The person's sessions end: no change of one of them is stored after this.
		const ordered = await takeChangeTime(tx, begun, organizationId)
		const { userId } = await takeReset(tx, body.token, now)
		const user = await users.existing(tx, organizationId, userId)
		await limits.signIns.reset(visitor, user.email)
		const origin = { ...ordered, actor: { type: 'user' as const, id: userId } }
		await setPassword({ db: tx, origin }, user, hash)
		return done
	})
	context.callers.forget(organizationId)
	return answer
}
