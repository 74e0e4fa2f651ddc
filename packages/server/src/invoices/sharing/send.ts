// Sends an invoice by e-mail. The e-mail shows the invoice as it will be after sending; the invoice is changed only once the
// mail server has accepted the e-mail.

import type { Caller } from '../../auth/caller.ts'
import { todayIn } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { InvoiceSend } from '../../generated/contract.ts'
import { type SelfManagedContext, writeContext } from '../../http/handler.ts'
import { requireOrganization } from '../../organizations/store.ts'
import { type Mail, MailError, type Mailer } from '../../outside/mail/mail.ts'
import { invoiceEmail } from '../../rendering/email.ts'
import { applyInput, type WrittenInvoice } from '../apply.ts'
import { recordInvoiceEvents } from '../events.ts'
import { asRead, type StoredInvoice } from '../invoice.ts'
import { requireInvoice, requireLockedInvoice } from '../store.ts'
import { changeInvoice } from '../write.ts'
import { clientUrl, findClientToken } from './client-link-store.ts'
import { documentOf, fileName, pdfOf } from './render.ts'

export async function sendInvoice(context: SelfManagedContext, caller: Caller, id: string, request: InvoiceSend) {
	const { db, now, origin, services } = context
	const invoice = requireSendable(await requireInvoice(db, caller.organizationId, id))
	requireMailer(services.mailer)
	await deliver(services.mailer, await compose(context, caller, applyInput(invoice, sending(invoice, now) ?? {}, now), request))
	return context.commit(async (tx) => {
		const current = await requireLockedInvoice(tx, caller.organizationId, id)
		const write = writeContext({ db: tx, origin }, caller)
		const change = sending(current, now)
		if (change) await changeInvoice(write, current, change, ['invoice.sent'])
		else await recordInvoiceEvents(write, current, ['invoice.sent'])
		return { status: 200 as const, body: { ok: true as const } }
	})
}

function requireSendable(invoice: StoredInvoice): StoredInvoice {
	if (invoice.status !== 'cancelled') return invoice
	throw new ApiError('invoice_cancelled', `The invoice ${invoice.invoiceNumber} is cancelled: give it another status first.`)
}

/** The change that sending makes: a draft becomes `sent`, any other invoice only gets its dates; undefined when sent before. */
function sending({ status, sentAt }: StoredInvoice, now: number): WrittenInvoice | undefined {
	if (status === 'draft') return { status: 'sent' }
	return sentAt === null ? { sentAt: now } : undefined
}

async function compose(
	{ db, now, services }: SelfManagedContext,
	{ organizationId }: Caller,
	sent: StoredInvoice,
	{ to, message }: InvoiceSend,
): Promise<Mail> {
	const organization = await requireOrganization(db, organizationId)
	const invoice = asRead(sent, todayIn(organization.timeZone, now))
	const document = await documentOf(db, services, organization, invoice, now)
	const token = await findClientToken(db, services.secrets, sent)
	const url = token === undefined ? null : clientUrl(services.baseUrl, token)
	const { body: content } = await pdfOf(services, document, invoice)
	return {
		to,
		replyTo: organization.email,
		senderName: organization.name,
		...invoiceEmail({ document, message: message?.trim() ? message : null, url }),
		attachments: [{ filename: fileName(sent), contentType: 'application/pdf', content }],
	}
}

function requireMailer({ configured, missing }: Mailer): void {
	if (configured) return
	throw new ApiError('email_not_configured', `The server cannot send e-mail: set ${missing.join(' and ')}.`)
}

async function deliver(mailer: Mailer, mail: Mail): Promise<void> {
	await mailer.send(mail).catch((error) => {
		if (error instanceof MailError) throw new ApiError('email_delivery_failed', error.message, { cause: error })
		throw error
	})
}
