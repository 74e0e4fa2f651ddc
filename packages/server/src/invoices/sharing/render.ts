// Gathers everything that an invoice's document shows, and renders the PDF.
import type { Db } from '../../db/database.ts'
import type { Invoice } from '../../generated/contract.ts'
import type { Services } from '../../outside/services.ts'
import type { InvoiceDocument } from '../../rendering/document.ts'
import type { PdfMeta } from '../../rendering/pdf/pdf.ts'
import { findTimeEntriesOf } from '../../time-entries/store.ts'
import { findLiveLink } from '../payment-link-store.ts'
import { snapshotOf } from '../snapshot.ts'
import { clientUrl, findClientToken } from './client-link-store.ts'
import { presentInvoice } from './present.ts'

/** Who waits for a PDF; without a signal, until it is there. */
type PdfWaiter = Pick<PdfMeta, 'visitedLink' | 'signal'>

export async function documentOf(db: Db, services: Services, invoice: Invoice, now: number): Promise<InvoiceDocument> {
	const { organizationId, id } = invoice
	const { billTo, billFrom, locale, timeZone } = await snapshotOf(db, invoice)
	const entries = invoice.includeTimesheet ? await findTimeEntriesOf(db, organizationId, id) : []
	return presentInvoice({
		invoice,
		seller: billFrom,
		buyer: billTo,
		locale,
		timeZone,
		paymentUrl: await paymentUrl(db, services, invoice, now),
		// An entry on an invoice has ended, so its duration is never null.
		timeEntries: entries.map((entry) => ({ ...entry, durationSeconds: entry.durationSeconds ?? 0 })),
	})
}

/** The client's page, which has a button to pay, or else the processor's page. */
async function paymentUrl(db: Db, services: Services, invoice: Invoice, now: number): Promise<string | null> {
	if (!(await services.payments.nameOf(db, invoice.organizationId))) return null
	const token = await findClientToken(db, services.secrets, invoice)
	if (token !== undefined) return clientUrl(services.baseUrl, token)
	return (await findLiveLink(db, invoice.organizationId, invoice.id, now))?.url ?? null
}

/** The PDF and its headers. Its creation date comes from the invoice, so that the same invoice gives the same bytes. */
export async function pdfOf({ pdf }: Services, document: InvoiceDocument, invoice: Invoice, waiter: PdfWaiter = {}) {
	const { organizationId: owner, issuedDate, createdAt } = invoice
	const bytes = await pdf.render(document, { ...waiter, owner, createdAt: issuedDate ?? createdAt })
	return { status: 200 as const, headers: { 'Content-Disposition': `inline; filename="${fileName(invoice)}"` }, body: bytes }
}

/** The number as a file name. All other characters are special to some system, and so are dots and hyphens at its ends. */
export function fileName({ invoiceNumber }: Pick<Invoice, 'invoiceNumber'>): string {
	const letters = invoiceNumber.normalize('NFKD').replace(/\p{M}/gu, '')
	const name = letters.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+|[.-]+$/g, '')
	return `${name || 'invoice'}.pdf`
}
