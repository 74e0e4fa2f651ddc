// The e-mail of an invoice, as it will be once it is sent.

import { requireOrganization } from '../../../accounts/doors.ts'
import type { InvoiceSend } from '../../../generated/contract.ts'
import { todayIn } from '../../../platform/base/dates.ts'
import type { SelfManagedContext } from '../../../platform/http/handler.ts'
import type { Attachment, MailContent } from '../../../platform/outside/mail/mail.ts'
import { invoiceEmail, type RenderedEmail } from '../../documents/email.ts'
import { asRead, type StoredInvoice } from '../invoice.ts'
import { type Snapshot, snapshotOf } from '../snapshot.ts'
import { presentInvoice } from './present.ts'
import { fileName, type RenderedPdf, renderPdf, withLinks, withoutLinks } from './render.ts'

/** `token` is that of the client link. */
export async function compose(
	context: SelfManagedContext,
	sent: StoredInvoice,
	{ to, cc = [], bcc = [], replyTo, subject, message }: InvoiceSend,
	token: string | undefined,
): Promise<{ content: MailContent; pdf: RenderedPdf; snapshot: Snapshot }> {
	const { db, now, services } = context
	const organization = await requireOrganization(db, sent.organizationId)
	const snapshot = await snapshotOf(db, sent)
	const invoice = asRead({ ...sent, ...snapshot }, todayIn(organization.timeZone, now))
	const source = token === undefined ? await withoutLinks(db, invoice) : await withLinks(db, services, invoice, { token, now })
	const { logo, ...email } = invoiceEmail({ document: presentInvoice(source), message: message?.trim() ? message : null })
	const pdf = await renderPdf(context, source)
	const content = {
		to,
		cc,
		bcc,
		replyTo: replyTo ?? organization.email,
		senderName: organization.name,
		...email,
		subject: subject ?? email.subject,
		attachments: [
			{ filename: fileName(sent), contentType: 'application/pdf', content: pdf.bytes },
			...(logo ? [inline(logo)] : []),
		],
	}
	return { content, pdf, snapshot }
}

function inline({ cid, image }: NonNullable<RenderedEmail['logo']>): Attachment {
	const { format, data } = image
	return { filename: `logo.${format}`, contentType: `image/${format}`, content: Buffer.from(data, 'base64'), cid }
}
