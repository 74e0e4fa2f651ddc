import { ApiError } from '../../platform/base/errors.ts'
import type { Handler } from '../../platform/http/handler.ts'
import { findLiveLink } from '../invoices/payment-link-store.ts'
import { requireInvoice } from '../invoices/store.ts'
import { getOrCreatePaymentLink, returnUrls } from './link.ts'

export const create: Handler<'invoices.paymentLink.create'> = async ({ params, caller }, context) => {
	const { db, origin, services } = context
	const { organizationId } = caller
	const invoiceId = params.id
	const processor = await services.payments.of(db, organizationId)
	const urls = await returnUrls(context, organizationId, invoiceId)
	const url = await getOrCreatePaymentLink(db, { organizationId, invoiceId, processor, ...urls, origin })
	return { status: 200, body: { url } }
}

export const get: Handler<'invoices.paymentLink.get'> = async ({ params, caller }, context) => {
	const { db, now, services } = context
	await requireInvoice(db, caller.organizationId, params.id)
	const link = await findLiveLink(db, caller.organizationId, params.id, now)
	// A link of another account is about to be closed.
	if (!link || link.processor !== (await services.payments.nameOf(db, caller.organizationId)))
		throw new ApiError('payment_link_not_found', `The invoice ${params.id} has no payment link that works.`)
	return { status: 200, body: { url: link.url } }
}
