// The fields that follow from a change of status. Any status may follow any other.
import type { InvoiceInput, InvoiceStatus } from '../generated/contract.ts'
import type { StoredInvoice } from './invoice.ts'

/** Sets and clears the fields that follow from the change of status. */
export function applyStatus(before: StoredInvoice, after: StoredInvoice, input: InvoiceInput, now: number): StoredInvoice {
	const next = { ...after }
	if (input.paidDate !== undefined) next.paidDateDerived = false
	if (next.status === 'sent' && next.sentAt === null) {
		next.sentAt = now
		next.issuedDate ??= now
	}
	if (becomes('paid', before, next)) {
		next.amountPaidCents = next.totalCents
		next.paidDateDerived = next.paidDate === null
		next.paidDate ??= now
	}
	if (before.status === 'paid' && next.status !== 'paid') {
		next.amountPaidCents = 0
		if (before.paidDateDerived && input.paidDate === undefined) next.paidDate = null
		next.paidDateDerived = false
	}
	return next
}

export const becomes = (status: InvoiceStatus, before: StoredInvoice, after: StoredInvoice) =>
	before.status !== status && after.status === status

export const isFirstSent = (before: StoredInvoice, after: StoredInvoice) => before.sentAt === null && after.sentAt !== null
