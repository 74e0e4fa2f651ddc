// Sends an invoice by e-mail. What is sent is the invoice as it will be once it is sent; it becomes so only when the mail
// server has accepted the e-mail.

import type { Caller } from '../../auth/caller.ts'
import { todayIn } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { InvoiceSend } from '../../generated/contract.ts'
import type { OwnContext } from '../../http/handler.ts'
import { requireOrganization } from '../../organizations/store.ts'
import { type Mail, MailError, type Mailer } from '../../outside/mail/mail.ts'
import { invoiceEmail } from '../../rendering/email.ts'
import { applyInput } from '../apply.ts'
import { asRead, type StoredInvoice } from '../invoice.ts'
import { findStoredInvoice, invoiceNotFound, lockInvoice } from '../store.ts'
import { changeInvoice, tell } from '../write.ts'
import { clientUrl, findClientToken } from './client-link-store.ts'
import { documentOf, fileName, pdfOf } from './render.ts'

export async function sendInvoice(context: OwnContext, caller: Caller, id: string, request: InvoiceSend) {
	const { db, now, origin, outside } = context
	const invoice = requireSendable(await findStoredInvoice(db, caller.organizationId, id), id)
	refuseUnconfigured(outside.mailer)
	await deliver(outside.mailer, await compose(context, caller, asSent(invoice, now), request))
	return context.conclude(async (tx) => {
		const current = await lockInvoice(tx, caller.organizationId, id)
		if (!current) throw invoiceNotFound(id)
		const writing = { db: tx, origin, timeZone: caller.timeZone }
		const sent = asSent(current, now)
		if (sent === current) await tell(writing, current, ['invoice.sent'])
		else await changeInvoice(writing, current, sent, ['invoice.sent'])
		return { status: 200 as const, body: { ok: true as const } }
	})
}

function requireSendable(invoice: StoredInvoice | undefined, id: string): StoredInvoice {
	if (!invoice) throw invoiceNotFound(id)
	if (invoice.status !== 'cancelled') return invoice
	throw new ApiError('invoice_cancelled', `The invoice ${invoice.invoiceNumber} is cancelled: give it another status first.`)
}

/** The invoice after it was sent: a draft is one no more, and any gets its dates. The same invoice when it was sent before. */
function asSent(invoice: StoredInvoice, now: number): StoredInvoice {
	if (invoice.status === 'draft') return applyInput(invoice, { status: 'sent' }, now)
	return invoice.sentAt === null ? { ...invoice, sentAt: now, issuedDate: invoice.issuedDate ?? now } : invoice
}

async function compose(
	{ db, now, outside }: OwnContext,
	{ organizationId, timeZone }: Caller,
	sent: StoredInvoice,
	{ to, message }: InvoiceSend,
): Promise<Mail> {
	const organization = await requireOrganization(db, organizationId)
	const invoice = asRead(sent, todayIn(timeZone, now))
	const document = await documentOf(db, outside, organization, invoice, now)
	const token = await findClientToken(db, outside.secrets, sent)
	const url = token === undefined ? null : clientUrl(outside.baseUrl, token)
	const { body: content } = await pdfOf(outside, document, invoice)
	return {
		to,
		replyTo: organization.email,
		senderName: organization.name,
		...invoiceEmail({ document, message: message?.trim() ? message : null, url }),
		attachments: [{ filename: fileName(sent), contentType: 'application/pdf', content }],
	}
}

function refuseUnconfigured({ configured, missing }: Mailer): void {
	if (configured) return
	throw new ApiError('email_not_configured', `The server cannot send e-mail: set ${missing.join(' and ')}.`)
}

async function deliver(mailer: Mailer, mail: Mail): Promise<void> {
	await mailer.send(mail).catch((error) => {
		if (error instanceof MailError) throw new ApiError('email_delivery_failed', error.message, { cause: error })
		throw error
	})
}
