// Gathers everything that an invoice's document shows, and renders the PDF, or finds the one that was kept.

import { findLogo } from '../../../accounts/doors.ts'
import type { Branding, Invoice, InvoiceDocument } from '../../../generated/contract.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { SelfManagedContext } from '../../../platform/http/handler.ts'
import type { Services } from '../../../platform/outside/services.ts'
import type { PdfMeta } from '../../../platform/typeset/pdf.ts'
import { findTimeEntriesOf } from '../../time-entries/store.ts'
import { findLiveLink } from '../payment-link-store.ts'
import { chargedSeconds } from '../pricing/time-lines.ts'
import { snapshotOf } from '../snapshot.ts'
import { clientUrl, findClientToken } from './client-link-store.ts'
import { contentHashOf, findDocument, keepDocument } from './document-store.ts'
import { type PresentSource, presentInvoice } from './present.ts'

/** Who waits for a PDF; without a signal, until it is there. */
type PdfWaiter = Pick<PdfMeta, 'visitedLink' | 'signal'>

export const documentOf = async (db: Db, services: Services, invoice: Invoice, now: number): Promise<InvoiceDocument> =>
	presentInvoice(await sourceOf(db, services, invoice, now))

/** The document without links: a page has a button of its own to pay. */
export const pageDocumentOf = async (db: Db, invoice: Invoice): Promise<InvoiceDocument> =>
	presentInvoice(await withoutLinks(db, invoice))

/** Everything that the invoice's document shows. */
async function sourceOf(db: Db, services: Services, invoice: Invoice, now: number): Promise<PresentSource> {
	const token = await findClientToken(db, services.secrets, invoice)
	return withLinks(db, services, invoice, { token, now })
}

/** The same with the link of a token; without one, with the link at the payment processor that still works. */
export async function withLinks(
	db: Db,
	services: Services,
	invoice: Invoice,
	{ token, now }: { token: string | undefined; now: number },
): Promise<PresentSource> {
	const viewUrl = token === undefined ? null : clientUrl(services.baseUrl, token)
	return { ...(await withoutLinks(db, invoice)), viewUrl, paymentUrl: await paymentUrl(db, services, invoice, viewUrl, now) }
}

/** The same without where to view and to pay it. */
export async function withoutLinks(db: Db, invoice: Invoice): Promise<PresentSource> {
	const { organizationId, id } = invoice
	const { billTo, billFrom, language, locale, timeZone, branding } = await snapshotOf(db, invoice)
	const entries = invoice.includeTimesheet ? await findTimeEntriesOf(db, organizationId, id) : []
	return {
		invoice,
		seller: billFrom,
		buyer: billTo,
		language,
		locale,
		timeZone,
		branding,
		logoData: await logoData(db, organizationId, branding),
		viewUrl: null,
		paymentUrl: null,
		// An entry on an invoice has ended, so its duration is never null.
		timeEntries: entries.map(({ startedAt, durationSeconds, description, taskName, deliverableName }) => {
			const charged = chargedSeconds(durationSeconds ?? 0, invoice)
			return { startedAt, durationSeconds: charged, description, taskName, deliverableName }
		}),
	}
}

async function logoData(db: Db, organizationId: string, { logo }: Branding): Promise<string | null> {
	const bytes = logo && (await findLogo(db, { organizationId, sha256: logo.sha256 }))
	return bytes ? Buffer.from(bytes).toString('base64') : null
}

/** The client's page, which has a button to pay, or else the processor's page. */
async function paymentUrl(
	db: Db,
	services: Services,
	invoice: Invoice,
	viewUrl: string | null,
	now: number,
): Promise<string | null> {
	if (!(await services.payments.nameOf(db, invoice.organizationId))) return null
	return viewUrl ?? (await findLiveLink(db, invoice.organizationId, invoice.id, now))?.url ?? null
}

/** The PDF and its headers. Its creation date comes from the invoice, so that the same invoice gives the same bytes. */
export async function pdfOf(context: SelfManagedContext, invoice: Invoice, waiter: PdfWaiter) {
	const source = await sourceOf(context.db, context.services, invoice, context.now)
	const { bytes, keep } = await renderPdf(context, source, waiter, [source, { ...source, viewUrl: null }])
	// A database that takes no changes keeps nobody from the PDF: the next reader brings it to be kept.
	if (keep) await context.db.transaction(keep, { organizationId: invoice.organizationId }).catch(() => {})
	return { status: 200 as const, headers: { 'Content-Disposition': dispositionOf(invoice) }, body: bytes }
}

export interface RenderedPdf {
	readonly bytes: Uint8Array
	/** Keeps the bytes of a sent invoice, which then are the PDF of all that it shows; absent when they are kept, and of a draft. */
	readonly keep?: (tx: Db) => Promise<unknown>
}

/** `same`: what the kept bytes may show instead. A client link that was made later changes nothing of what the client has. */
export async function renderPdf(
	{ db, services, origin }: SelfManagedContext,
	source: PresentSource,
	waiter: PdfWaiter = {},
	same: readonly PresentSource[] = [source],
): Promise<RenderedPdf> {
	const { invoice } = source
	const { organizationId, id: invoiceId, issuedDate, createdAt } = invoice
	const meta = { ...waiter, owner: organizationId, createdAt: issuedDate ?? createdAt }
	const render = () => services.pdf.render(presentInvoice(source), meta)
	if (invoice.sentAt === null || invoice.status === 'draft') return { bytes: await render() }
	const keyOf = (shown: PresentSource) => ({ organizationId, invoiceId, contentHash: contentHashOf(shown) })
	for (const shown of same) {
		const kept = await findDocument(db, keyOf(shown))
		if (kept) return { bytes: kept }
	}
	const bytes = await render()
	return { bytes, keep: (tx) => keepDocument(tx, origin, keyOf(source), bytes) }
}

/** The number as a file name. All other characters are special to some system, and so are dots and hyphens at its ends. */
export const fileName = ({ invoiceNumber }: Pick<Invoice, 'invoiceNumber'>): string =>
	`${nameOf(invoiceNumber.normalize('NFKC'), /[^\p{L}\p{M}\p{N}._-]+/gu)}.pdf`

/** With the name in ASCII for who does not know RFC 6266's own parameter. */
function dispositionOf(invoice: Pick<Invoice, 'invoiceNumber'>): string {
	const name = fileName(invoice)
	const inAscii = `${nameOf(invoice.invoiceNumber.normalize('NFKD').replace(/\p{M}/gu, ''), /[^A-Za-z0-9._-]+/g)}.pdf`
	return `inline; filename="${inAscii}"${name === inAscii ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`}`
}

const nameOf = (text: string, special: RegExp) => text.replace(special, '-').replace(/^[.-]+|[.-]+$/g, '') || 'invoice'
