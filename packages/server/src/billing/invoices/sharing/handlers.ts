// How an invoice reaches its client: by e-mail, as a PDF and through its client link.

import { requireOrganization } from '../../../accounts/doors.ts'
import type { Invoice, InvoiceEmail } from '../../../generated/contract.ts'
import type { Caller } from '../../../platform/auth/caller.ts'
import { todayIn } from '../../../platform/base/dates.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { Context, Handler, SelfManagedContext } from '../../../platform/http/handler.ts'
import { answerPage } from '../../../platform/http/record-handlers.ts'
import { findLatestMail, isUncertain, readEmails } from '../../../platform/mails/store.ts'
import { readInvoice } from '../reading/store.ts'
import { documentWarnings } from '../snapshot.ts'
import { invoiceNotFound, requireInvoice, requireLockedInvoice } from '../store.ts'
import { clientUrl, findClientToken, getOrCreateClientToken, removeClientLink } from './client-link-store.ts'
import { countView, openLink, publicInvoice, readViewed } from './public-view.ts'
import { documentOf, pdfOf } from './render.ts'
import { sendInvoice } from './send.ts'

export const send: Handler<'invoices.send'> = ({ params, body, caller }, context) => sendInvoice(context, caller, params.id, body)

export const sendStatus: Handler<'invoices.sendStatus'> = async ({ params, caller }, { db, now, services }) => {
	const invoice = await requireInvoice(db, caller.organizationId, params.id)
	const { configured, transport, from, missing } = services.mailer
	const latest = await findLatestMail(db, invoice)
	const perhapsSent = latest !== undefined && isUncertain(latest, now)
	const warnings = await documentWarnings(db, invoice, now)
	const body = { configured, transport, from, missing: [...missing], perhapsSent, ...(warnings.length > 0 && { warnings }) }
	return { status: 200, body }
}

export const listEmails: Handler<'invoices.emails.list'> = async ({ params, query, caller }, { db, now, services }) => {
	const invoice = await requireInvoice(db, caller.organizationId, params.id)
	const list = `emails of ${invoice.id}`
	return answerPage<InvoiceEmail>(list, { query, caller }, { now, services }, (page) => readEmails(db, invoice, page))
}

export const pdf: Handler<'invoices.pdf'> = async ({ params, caller, signal }, context) =>
	pdfOf(context, await requireStanding(context, caller, params.id), { signal: signal() })

export const document: Handler<'invoices.document'> = async ({ params, caller }, context) => {
	const invoice = await requireStanding(context, caller, params.id)
	return { status: 200, body: { data: await documentOf(context.db, context.services, invoice, context.now) } }
}

/** The invoice as it stands today, where its organization is: perhaps overdue. */
async function requireStanding(
	{ db, now }: Pick<Context, 'db' | 'now'>,
	{ organizationId }: Caller,
	id: string,
): Promise<Invoice> {
	const organization = await requireOrganization(db, organizationId)
	const found = await readInvoice(db, organization.id, id, todayIn(organization.timeZone, now))
	if (!found) throw invoiceNotFound(id)
	return JSON.parse(found.json) as Invoice
}

export const createClientLink: Handler<'invoices.clientLink.create'> = async ({ params, caller }, context) => {
	const { db, services } = context
	const invoice = await requireLockedInvoice(db, caller.organizationId, params.id)
	const token = await getOrCreateClientToken(context, services.secrets, invoice)
	return { status: 200, body: { url: clientUrl(services.baseUrl, token) } }
}

export const getClientLink: Handler<'invoices.clientLink.get'> = async ({ params, caller }, { db, services }) => {
	await requireInvoice(db, caller.organizationId, params.id)
	const token = await findClientToken(db, services.secrets, { organizationId: caller.organizationId, id: params.id })
	if (token === undefined) throw noClientLink(params.id)
	return { status: 200, body: { url: clientUrl(services.baseUrl, token) } }
}

export const deleteClientLink: Handler<'invoices.clientLink.delete'> = async ({ params, caller }, context) => {
	const invoice = await requireLockedInvoice(context.db, caller.organizationId, params.id)
	if (!(await removeClientLink(context, invoice))) throw noClientLink(params.id)
	return { status: 200, body: { ok: true } }
}

const noClientLink = (id: string) => new ApiError('client_link_not_found', `The invoice ${id} has no client link.`)

export const viewPublic: Handler<'invoices.public.get'> = async ({ params, isViewed }, context) => {
	const { db, now, services, origin }: SelfManagedContext = context
	const link = await openLink(db, params.token)
	const invoice = await readViewed(db, link, now)
	if (isViewed()) await countView(db, link, origin)
	const takesPayments = (await services.payments.nameOf(db, link.organizationId)) !== undefined
	return { status: 200, body: { data: publicInvoice(invoice, params.token, services.baseUrl, takesPayments) } }
}

export const viewPublicPdf: Handler<'invoices.public.pdf'> = async ({ params, signal }, context) => {
	const invoice = await readViewed(context.db, await openLink(context.db, params.token), context.now)
	return pdfOf(context, invoice, { visitedLink: invoice.id, signal: signal() })
}
