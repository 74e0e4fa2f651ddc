// What a payment does to the invoices that it is put on or taken off, through the door of invoices.
import type { WriteContext } from '../../platform/db/write-context.ts'
import { amountDue, type StoredInvoice } from '../invoices/invoice.ts'
import { changeInvoice } from '../invoices/write.ts'
import type { Share, StoredPayment } from '../ledger/store.ts'
import type { Part } from '../ledger/write.ts'
import type { Invoices } from './locks.ts'

/** Raises what locked invoices have of a payment. One on which nothing is due any more is paid as the payment says. */
export async function settle(
	write: WriteContext,
	{ paidAt, method, reference }: StoredPayment,
	parts: readonly Part[],
	invoices: Invoices,
): Promise<void> {
	const how = {
		paidDate: paidAt,
		...(method !== null && { paymentMethod: method }),
		...(reference !== null && { paymentReference: reference }),
	}
	for (const { invoiceId, amountCents } of parts) {
		const invoice = invoices.get(invoiceId) as StoredInvoice
		const isSettled = amountDue(invoice) === amountCents
		const amountPaidCents = invoice.amountPaidCents + amountCents
		await changeInvoice(write, invoice, { amountPaidCents, ...(isSettled && how) })
	}
}

/** Lowers what a locked invoice has of payments. */
export async function unsettle(write: WriteContext, invoice: StoredInvoice | undefined, lost: readonly Share[]): Promise<void> {
	if (!invoice) return
	const amountPaidCents = invoice.amountPaidCents - lost.reduce((sum, { amountCents }) => sum + amountCents, 0)
	await changeInvoice(write, invoice, { amountPaidCents })
}
