// Mails that bring a person a link.

import type { OrganizationSettings } from '../../generated/contract.ts'
import { newTimedId } from '../../platform/base/ids.ts'
import type { Database } from '../../platform/db/database.ts'
import { insertMail, type StoredMail } from '../../platform/mails/store.ts'
import { MailError } from '../../platform/outside/mail/delivery.ts'
import type { Services } from '../../platform/outside/services.ts'
import { type LinkEmail, renderLinkEmail } from '../../platform/rendering/link-email.ts'

interface PersonMail {
	readonly kind: Exclude<StoredMail['kind'], 'invoice'>
	/** The id of the invitation or the person. */
	readonly resourceId: string
	readonly organization: OrganizationSettings
	readonly to: string
	readonly email: LinkEmail
	readonly now: number
}

/** Sends the mail; returns whether the mail server took it. A server without mail sends none. */
export async function mailLink(
	db: Database,
	{ mailer }: Services,
	{ kind, resourceId, organization, to, email, now }: PersonMail,
): Promise<boolean> {
	if (!mailer.configured) return false
	const { subject, ...bodies } = renderLinkEmail(email)
	const organizationId = organization.id
	const id = newTimedId('mail', now)
	const messageId = mailer.messageId(id)
	const content = { to, cc: [], bcc: [], replyTo: null, subject }
	const outcome = await mailer
		.send({ ...content, ...bodies, senderName: organization.name, attachments: [], messageId })
		.then((recipients) => ({ status: 'accepted' as const, reason: null, recipients: [...recipients] }))
		.catch((error) => {
			if (!(error instanceof MailError)) throw error
			const status = error.uncertain ? ('uncertain' as const) : ('failed' as const)
			return { status, reason: error.message, recipients: [...error.recipients] }
		})
	const row = { organizationId, id, kind, resourceId, messageId, requestKey: null, leaseUntil: null }
	// Visitors ask for links to set a password, not the organization: they must not use up its mails of a day.
	const recipientCount = kind === 'invitation' ? 1 : 0
	await db.transaction(
		(tx) => insertMail(tx, { ...row, recipientCount, ...content, ...outcome, createdAt: now, updatedAt: now }),
		{
			organizationId,
		},
	)
	return outcome.status === 'accepted'
}
