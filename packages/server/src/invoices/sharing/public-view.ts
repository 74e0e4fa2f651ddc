// What a client sees through an invoice's link: the fields of the contract's PublicInvoice and PublicLineItem. A new field of
// invoices stays hidden until it is added to these.
import { todayIn } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import type { Database, Db } from '../../db/database.ts'
import type { Invoice, OrganizationSettings, PublicInvoice } from '../../generated/contract.ts'
import { publicParts } from '../../generated/public-parts.ts'
import { findOrganization } from '../../organizations/store.ts'
import { recordInvoiceEvents } from '../events.ts'
import { readInvoice } from '../reading/store.ts'
import { snapshotOf } from '../snapshot.ts'
import { countInvoiceView, lockInvoice } from '../store.ts'
import { clientUrl, findByToken } from './client-link-store.ts'

export interface Viewed {
	readonly invoice: Invoice
	readonly organization: OrganizationSettings
}

const notFound = () => new ApiError('client_link_not_found', 'This link does not work: it is unknown, or was revoked.')

/** The invoice that a token opens. The error for a revoked token is the same as for one that never existed. */
export async function openByToken(db: Db, token: string, now: number): Promise<Viewed> {
	const link = await findByToken(db, token)
	const organization = link && (await findOrganization(db, link.organizationId))
	const found = organization && (await readInvoice(db, link.organizationId, link.invoiceId, todayIn(organization.timeZone, now)))
	if (!found) throw notFound()
	const invoice = JSON.parse(found.json) as Invoice
	if (invoice.status === 'draft' && !organization.publishDrafts) throw notFound()
	return { invoice: { ...invoice, ...(await snapshotOf(db, invoice)) }, organization }
}

/** Counts a view; the first one records an event. */
export async function countView(db: Database, { invoice, organization }: Viewed, origin: Origin): Promise<void> {
	const { organizationId, id } = invoice
	await db.transaction(
		async (tx) => {
			const stored = await lockInvoice(tx, organizationId, id)
			if (!stored) return
			await countInvoiceView(tx, organizationId, id, origin.now)
			if (stored.viewedAt === null) await recordInvoiceEvents({ db: tx, origin, organization }, stored, ['invoice.viewed'])
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
