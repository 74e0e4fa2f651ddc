import type { Invitation, InvitationLink } from '../../generated/contract.ts'
import type { Caller } from '../../platform/auth/caller.ts'
import { newToken } from '../../platform/auth/session-cookie.ts'
import type { Transaction } from '../../platform/db/database.ts'
import type { Handler, SelfManagedContext } from '../../platform/http/handler.ts'
import { listHandler, removed } from '../../platform/http/record-handlers.ts'
import { requireDailyLimit, requireReachable } from '../../platform/mails/limits.ts'
import type { LinkEmail } from '../../platform/rendering/link-email.ts'
import { createInvitation, invitations, noteEmailed, renewInvitation, requireInvitation } from './invitation-store.ts'
import { invitationPath } from './links.ts'
import { mailLink } from './mails.ts'
import { rejectEscalation } from './roles.ts'
import { requireFreeAddress } from './store.ts'

export const list = listHandler<Invitation, object>(invitations)

export const create: Handler<'invitations.create'> = async ({ body, caller }, context) => {
	rejectEscalation(caller, body.role)
	const input = { ...body, email: body.email.toLowerCase() }
	const write = async (tx: Transaction, token: string) => {
		await requireFreeAddress(tx, caller.organizationId, input.email)
		await requireMailable(tx, context, caller, input.email)
		return createInvitation({ db: tx, origin: context.origin }, caller.organizationId, input, token)
	}
	return { status: 201, body: await invite(context, caller, 201, write) }
}

export const resend: Handler<'invitations.resend'> = async ({ params, caller }, context) => {
	const write = async (tx: Transaction, token: string) => {
		const stored = await invitations.lock(tx, caller.organizationId, params.id)
		if (!stored) throw invitations.notFound(params.id)
		rejectEscalation(caller, stored.role)
		await requireMailable(tx, context, caller, stored.email)
		return renewInvitation({ db: tx, origin: context.origin }, stored, token)
	}
	return { status: 200, body: await invite(context, caller, 200, write) }
}

export const remove: Handler<'invitations.delete'> = async ({ params, caller }, context) => {
	const stored = await invitations.lock(context.db, caller.organizationId, params.id)
	if (!stored) throw invitations.notFound(params.id)
	await invitations.remove(context, stored)
	return removed
}

export const show: Handler<'invitations.show'> = async ({ body }, { db, now }) => ({
	status: 200,
	body: { data: (await requireInvitation(db, body.token, now)).details },
})

/** Throws when the address gets no mail, or the organization has sent enough for a day. A server without mail sends none. */
async function requireMailable(tx: Transaction, context: SelfManagedContext, caller: Caller, to: string): Promise<void> {
	const { now, services } = context
	if (!services.mailer.configured) return
	await requireReachable(tx, { to })
	await requireDailyLimit(tx, caller.organization, { to }, { dailyLimit: services.mailDailyLimit, now })
}

/** Writes an invitation, and mails its link: a mail that fails leaves the link to whoever asked for it. */
async function invite(
	context: SelfManagedContext,
	{ organization }: Caller,
	status: 200 | 201,
	write: (tx: Transaction, token: string) => Promise<Invitation>,
): Promise<InvitationLink> {
	const { db, now, services } = context
	const token = newToken()
	const url = `${services.baseUrl}${invitationPath(token)}`
	let invitation: Invitation | undefined
	const answer = (emailed: boolean) => ({ id: invitation?.id ?? '', url, emailed })
	await context.commit(async (tx) => {
		invitation = await write(tx, token)
		return { status, body: answer(false) }
	})
	if (!invitation) throw new Error('the invitation was not written')
	const { id: resourceId, email: to } = invitation
	const email = invitationEmail(organization.name, url)
	if (!(await mailLink(db, services, { kind: 'invitation', resourceId, organization, to, email, now }))) return answer(false)
	const written = invitation
	await context.commit(async (tx) => {
		await noteEmailed(tx, written, now)
		return { status, body: answer(true) }
	})
	return answer(true)
}

const invitationEmail = (organizationName: string, url: string): LinkEmail => ({
	subject: `Join ${organizationName} on Remit`,
	paragraphs: [`You are invited to work with ${organizationName} in Remit, where its invoices are made and sent.`],
	link: { label: 'Accept the invitation', url },
	note: 'The link works once, for seven days. If you know nothing of this, leave it: nothing happens.',
})
