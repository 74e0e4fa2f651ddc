// The payment link of an invoice: the live one, or a new one from the processor.

import { requireOrganization } from '../../accounts/doors.ts'
import type { OrganizationSettings } from '../../generated/contract.ts'
import { ApiError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import type { Origin } from '../../platform/base/origin.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Database, Db } from '../../platform/db/database.ts'
import { type PaymentProcessor, type PaymentRequest, ProcessorError } from '../../platform/outside/payments/processor.ts'
import type { Services } from '../../platform/outside/services.ts'
import { audited } from '../invoices/events.ts'
import { amountDue, type StoredInvoice, whyNothing } from '../invoices/invoice.ts'
import { closePaymentLinks, findLiveLink, insertPaymentLink, type PaymentLink } from '../invoices/payment-link-store.ts'
import { clientUrl, findClientToken } from '../invoices/sharing/client-link-store.ts'
import { snapshotOf } from '../invoices/snapshot.ts'
import { requireInvoice, requireLockedInvoice } from '../invoices/store.ts'

export interface LinkRequest {
	readonly organizationId: string
	readonly invoiceId: string
	readonly processor: PaymentProcessor | undefined
	/** Where the processor sends the payer after the payment; `cancelUrl` without one. */
	readonly returnUrl: string
	readonly cancelUrl: string
	readonly origin: Origin
}

/** How often the server asks the processor when the invoice changes meanwhile. */
const tries = 3

/** The URL of a page on which the client can pay what is owed now. */
export async function getOrCreatePaymentLink(db: Database, request: LinkRequest): Promise<string> {
	const { organizationId, invoiceId, processor, origin } = request
	const { now } = origin
	if (!processor) {
		throw new ApiError(
			'payment_processor_not_configured',
			'No account takes payments for the organization: set its payment credentials (PUT /api/organization/payment-credentials), or the operator sets PAYMENT_PROCESSOR, or PAYMENT_FALLBACK=on.',
		)
	}
	const organization = await requireOrganization(db, organizationId)
	for (let attempt = 1; attempt <= tries; attempt++) {
		const invoice = requireOwed(await requireInvoice(db, organizationId, invoiceId), organization)
		const live = await findLiveLink(db, organizationId, invoiceId, now)
		if (live && fits(live, processor, invoice)) return live.url
		const created = await create(db, request, processor, invoice)
		const url = await db.transaction(
			async (tx) => {
				const current = requireOwed(await requireLockedInvoice(tx, organizationId, invoiceId), organization)
				// Another request was faster: its link is the invoice's, and nobody has seen ours.
				const other = await findLiveLink(tx, organizationId, invoiceId, now)
				if (other && fits(other, processor, current)) return other.url
				if (!fits(created, processor, current)) return undefined
				await closePaymentLinks(tx, current, now)
				await insertPaymentLink(tx, created)
				const { id: paymentLinkId, amountCents, currency } = created
				const after = { paymentLinkId, processor: processor.name, amountCents, currency }
				await recordChange({ db: tx, origin }, { ...audited(current), action: 'payment_requested', after })
				return created.url
			},
			{ organizationId },
		)
		if (url !== undefined) return url
	}
	throw new ApiError('payment_processor_failed', 'The invoice changed while the payment processor was asked: try again.')
}

function requireOwed(invoice: StoredInvoice, { publishDrafts }: OrganizationSettings): StoredInvoice {
	if (invoice.status === 'draft' && !publishDrafts)
		throw new ApiError('nothing_to_pay', `The invoice ${invoice.invoiceNumber} is a draft, which can be paid once it is sent.`)
	if (amountDue(invoice) > 0) return invoice
	throw new ApiError('nothing_to_pay', `Nothing is owed on the invoice ${invoice.invoiceNumber}: ${whyNothing(invoice)}.`)
}

const fits = (link: PaymentLink, { name }: PaymentProcessor, invoice: StoredInvoice) =>
	link.processor === name && link.amountCents === amountDue(invoice) && link.currency === invoice.currency

async function create(
	db: Database,
	{ organizationId, invoiceId, returnUrl, cancelUrl, origin }: LinkRequest,
	processor: PaymentProcessor,
	invoice: StoredInvoice,
): Promise<PaymentLink> {
	const { billTo, billFrom } = await snapshotOf(db, invoice)
	const owed = { amountCents: amountDue(invoice), currency: invoice.currency }
	const id = newId('plk')
	const request: PaymentRequest = {
		organizationId,
		invoiceId,
		linkId: id,
		invoiceNumber: invoice.invoiceNumber,
		sellerName: billFrom.name,
		...owed,
		customerEmail: billTo?.email ?? null,
		returnUrl,
		cancelUrl,
	}
	const { externalId, url, expiresAt } = await processor.create(request).catch((error) => {
		throw error instanceof ProcessorError ? new ApiError(error.code, error.message, { cause: error }) : error
	})
	return {
		organizationId,
		id,
		invoiceId,
		processor: processor.name,
		externalId,
		url,
		...owed,
		status: 'live',
		expiresAt,
		createdAt: origin.now,
	}
}

/** Where the processor sends the payer, with or without a payment: to the invoice's page, if it has a client link. */
export async function returnUrls(
	{ db, services }: { db: Db; services: Services },
	organizationId: string,
	invoiceId: string,
): Promise<Pick<LinkRequest, 'returnUrl' | 'cancelUrl'>> {
	const token = await findClientToken(db, services.secrets, { organizationId, id: invoiceId })
	const page = token === undefined ? undefined : clientUrl(services.baseUrl, token)
	return {
		returnUrl: page ? `${page}/paid` : `${services.baseUrl}/payments/received`,
		cancelUrl: page ?? `${services.baseUrl}/payments/cancelled`,
	}
}
