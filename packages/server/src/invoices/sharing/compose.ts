// The e-mail of an invoice, as it will be once it is sent.
import { todayIn } from '../../base/dates.ts'
import type { InvoiceSend } from '../../generated/contract.ts'
import type { SelfManagedContext } from '../../http/handler.ts'
import { requireOrganization } from '../../organizations/store.ts'
import type { MailContent } from '../../outside/mail/mail.ts'
import { invoiceEmail } from '../../rendering/email.ts'
import { asRead, type StoredInvoice } from '../invoice.ts'
import { clientUrl, findClientToken } from './client-link-store.ts'
import { documentOf, fileName, pdfOf } from './render.ts'

export async function compose(
	{ db, now, services }: SelfManagedContext,
	sent: StoredInvoice,
	{ to, cc = [], bcc = [], replyTo, subject, message }: InvoiceSend,
): Promise<MailContent> {
	const organization = await requireOrganization(db, sent.organizationId)
	const invoice = asRead(sent, todayIn(organization.timeZone, now))
	const document = await documentOf(db, services, invoice, now)
	const token = await findClientToken(db, services.secrets, sent)
	const url = token === undefined ? null : clientUrl(services.baseUrl, token)
	const email = invoiceEmail({ document, message: message?.trim() ? message : null, url })
	const { body: content } = await pdfOf(services, document, invoice)
	return {
		to,
		cc,
		bcc,
		replyTo: replyTo ?? organization.email,
		senderName: organization.name,
		...email,
		subject: subject ?? email.subject,
		attachments: [{ filename: fileName(sent), contentType: 'application/pdf', content }],
	}
}
