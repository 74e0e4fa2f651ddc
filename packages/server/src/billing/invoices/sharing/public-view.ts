// What a client sees through an invoice's link: the fields of the contract's PublicInvoice and PublicLineItem. A new field of
// invoices stays hidden until it is added to these.

import { requireOrganization } from '../../../accounts/doors.ts'
import type { Invoice, PublicInvoice } from '../../../generated/contract.ts'
import { publicParts } from '../../../generated/public-parts.ts'
import { todayIn } from '../../../platform/base/dates.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { Origin } from '../../../platform/base/origin.ts'
import type { Database, Db } from '../../../platform/db/database.ts'
import { writingIn } from '../../../platform/db/write-context.ts'
import { recordInvoiceEvents } from '../events.ts'
import { readInvoice } from '../reading/store.ts'
import { snapshotOf } from '../snapshot.ts'
import { countInvoiceViews, lockInvoice } from '../store.ts'
import { clientUrl, findByToken, type OpenLink } from './client-link-store.ts'

/** What a token opens. The error for a revoked token is the same as for one that never existed. */
export async function openLink(db: Db, token: string): Promise<OpenLink> {
	const link = await findByToken(db, token)
	if (!link) throw notFound()
	return link
}

const notFound = () => new ApiError('client_link_not_found', 'This link does not work: it is unknown, or was revoked.')

/** The invoice of a link, with what it shows of other records. */
export async function readViewed(db: Db, { organizationId, invoiceId, timeZone }: OpenLink, now: number): Promise<Invoice> {
	const found = await readInvoice(db, organizationId, invoiceId, todayIn(timeZone, now))
	if (!found) throw notFound()
	const invoice = JSON.parse(found.json) as Invoice
	return { ...invoice, ...(await snapshotOf(db, invoice)) }
}

interface Views {
	count: number
	/** When they are stored. */
	readonly stored: Promise<void>
}

/** By invoice: the views that wait until those before them are stored. */
const waiting = new Map<string, Views>()
/** By invoice: when the last of them are stored, or have failed. */
const last = new Map<string, Promise<void>>()

/**
 * Counts a view; the first one records an event. Views of an invoice that come while others are stored are stored together: all who follow
 * one link make one change at a time, for which the changes of its organization wait.
 */
export function countView(db: Database, link: OpenLink, origin: Origin): Promise<void> {
	const { invoiceId } = link
	const others = waiting.get(invoiceId)
	if (others) {
		others.count++
		return others.stored
	}
	const store = () => {
		waiting.delete(invoiceId)
		return storeViews(db, link, origin, views.count)
	}
	const views: Views = { count: 1, stored: (last.get(invoiceId) ?? Promise.resolve()).then(store) }
	waiting.set(invoiceId, views)
	const ended = views.stored
		.catch(() => {})
		.then(() => {
			if (last.get(invoiceId) === ended) last.delete(invoiceId)
		})
	last.set(invoiceId, ended)
	return views.stored
}

async function storeViews(db: Database, link: OpenLink, origin: Origin, count: number): Promise<void> {
	const { organizationId, invoiceId, viewedAt } = link
	await db.transaction(
		async (tx) => {
			if (viewedAt !== null) return countInvoiceViews(tx, { organizationId, id: invoiceId, count, now: origin.now })
			const write = await writingIn(tx, origin, await requireOrganization(tx, organizationId))
			const stored = await lockInvoice(tx, organizationId, invoiceId)
			await countInvoiceViews(tx, { organizationId, id: invoiceId, count, now: write.origin.now })
			if (stored?.viewedAt === null) await recordInvoiceEvents(write, stored, ['invoice.viewed'])
		},
		{ organizationId },
	)
}

/** `takesPayments`: whether the organization has an account that its invoices are paid to. */
export function publicInvoice(invoice: Invoice, token: string, baseUrl: string, takesPayments: boolean): PublicInvoice {
	const payable = takesPayments && invoice.amountDueCents > 0
	return publicParts.PublicInvoice({
		...invoice,
		lineItems: invoice.lineItems.map(publicParts.PublicLineItem),
		pdfUrl: `${baseUrl}/api/invoices/public/${token}/pdf`,
		payUrl: payable ? clientUrl(baseUrl, token) : null,
	})
}
