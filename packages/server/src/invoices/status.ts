// The fields that follow from a change of status. Any status may follow any other.
import type { InvoiceInput, InvoiceStatus, InvoiceWarning } from '../generated/contract.ts'
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

/** What an invoice that is sent lacks, as a member of the answer; none when it lacks nothing. */
export function warned({ billTo, companyId, lineItems, dueDate }: StoredInvoice): { warnings?: InvoiceWarning[] } {
	const warnings: (InvoiceWarning | false)[] = [
		billTo === null && companyId === null && { code: 'no_buyer', detail: 'The invoice has no buyer: set companyId or billTo.' },
		lineItems.length === 0 && {
			code: 'no_line_items',
			detail: 'The invoice has no line items: it says no more than its totals.',
		},
		dueDate === null && { code: 'no_due_date', detail: 'The invoice has no due date: it never becomes overdue.' },
	]
	const found = warnings.filter((warning) => warning !== false)
	return found.length > 0 ? { warnings: found } : {}
}
