// The fields that follow from a change of status. Any status may follow any other.

import type { InvoiceInput, InvoiceStatus, InvoiceWarning } from '../../generated/contract.ts'
import type { Today } from '../../platform/base/dates.ts'
import { amountDue, isLate, type StoredInvoice } from './invoice.ts'

/** What is written, with what only the server writes (apply.ts). */
type StatusInput = InvoiceInput & { readonly amountPaidCents?: number }

/** Sets and clears the fields that follow from the change of status: leaving `paid` clears when and how it was paid, unless the same change writes it. */
export function applyStatus(before: StoredInvoice, after: StoredInvoice, input: StatusInput, now: number): StoredInvoice {
	const next = { ...after }
	// Whoever writes the status that is there, as a form does that sends what it was given, says nothing.
	const paysMore = Math.abs(next.amountPaidCents) > Math.abs(before.amountPaidCents) || next.currency !== before.currency
	const isSaid = input.status !== undefined && (input.status !== before.status || paysMore)
	if (isSaid || next.status !== 'paid') {
		next.paidByPayment = false
		next.statusBeforePayment = null
	}
	if (next.status === 'sent' && next.sentAt === null) {
		next.sentAt = now
		// A change that clears it, and of which `sent` only follows, keeps it so.
		if (input.status === 'sent' || input.issuedDate === undefined) next.issuedDate ??= now
	}
	if (becomes('paid', before, next)) next.paidDate ??= now
	if (before.status === 'paid' && next.status !== 'paid') {
		if (input.paidDate === undefined) next.paidDate = null
		next.paymentMethod = input.paymentMethod ?? null
		next.paymentReference = input.paymentReference ?? null
	}
	return next
}

/**
 * What is paid of the next invoice, which the ledger then follows (billing/ledger/follow.ts). A caller's word counts: `paid` pays what is due,
 * leaving it takes back what only the status had paid, and no invoice has more of payments than its total.
 */
export function paidOf(before: StoredInvoice, next: StoredInvoice, input: StatusInput, paidByStatus: number): number {
	if (next.status === 'cancelled') return 0
	const { totalCents, amountCreditedCents } = next
	let paid = input.amountPaidCents ?? before.amountPaidCents
	if (next.currency !== before.currency) paid = paidByStatus
	if (before.status === 'paid' && next.status !== 'paid') paid -= paidByStatus
	if (totalCents !== before.totalCents) paid = within(paid, totalCents - amountCreditedCents)
	return input.status === 'paid' && isOwed({ ...next, amountPaidCents: paid }) ? totalCents - amountCreditedCents : paid
}

const isOwed = (invoice: StoredInvoice): boolean => amountDue(invoice) > 0 || (amountDue(invoice) < 0 && invoice.totalCents < 0)

/**
 * The status that follows from what is owed, unless the caller writes one. An invoice is `paid` once a payment covers its total, or the
 * total comes down to what was paid. A status that a payment gave goes when something is owed again: an invoice that was ever sent is
 * sent again, and the job makes it overdue if it is.
 */
export function statusOfMoney(before: StoredInvoice, next: StoredInvoice, input: StatusInput): Partial<StoredInvoice> {
	if (input.status !== undefined || amountDue(next) === amountDue(before)) return {}
	const { status, paidByPayment, statusBeforePayment, sentAt } = before
	if (status !== 'paid' && isOwed(before) && !isOwed(next) && next.amountPaidCents > 0)
		return { status: 'paid', paidByPayment: true, statusBeforePayment: status }
	if (!paidByPayment || !isOwed(next)) return {}
	return { status: sentAt === null ? (statusBeforePayment ?? 'draft') : 'sent' }
}

/**
 * `overdue` goes with the change after which the invoice is not late: its day is put off or taken away, or it owes nothing. It is sent then, and
 * the job makes it overdue again. A status that the same change writes stays.
 */
export function statusOfDay(
	before: StoredInvoice,
	next: StoredInvoice,
	input: StatusInput,
	today: Today,
): Partial<StoredInvoice> {
	const isMoved = next.dueDate !== before.dueDate || isLate(before, today)
	return next.status === 'overdue' && input.status === undefined && isMoved && !isLate(next, today) ? { status: 'sent' } : {}
}

/** As much of an amount as lies between 0 and a limit. */
const within = (cents: number, limit: number) =>
	limit < 0 ? Math.min(0, Math.max(cents, limit)) : Math.max(0, Math.min(cents, limit))

export const becomes = (status: InvoiceStatus, before: StoredInvoice, after: StoredInvoice) =>
	before.status !== status && after.status === status

export const isFirstSent = (before: StoredInvoice, after: StoredInvoice) => before.sentAt === null && after.sentAt !== null

/** What an invoice that is sent lacks, and whether it changed meanwhile, as a member of the answer; none when there is nothing to say. */
export function warned(
	{ billTo, companyId, lineItems, dueDate }: StoredInvoice,
	isChanged = false,
	others: readonly InvoiceWarning[] = [],
): { warnings?: InvoiceWarning[] } {
	const warnings: (InvoiceWarning | false)[] = [
		billTo === null && companyId === null && { code: 'no_buyer', detail: 'The invoice has no buyer: set companyId or billTo.' },
		lineItems.length === 0 && {
			code: 'no_line_items',
			detail: 'The invoice has no line items: it says no more than its totals.',
		},
		dueDate === null && { code: 'no_due_date', detail: 'The invoice has no due date: it never becomes overdue.' },
		isChanged && {
			code: 'changed_while_sending',
			detail: 'The invoice changed while it was sent: its client has it as it was before. A draft stays one; send it again.',
		},
	]
	const found = [...warnings.filter((warning) => warning !== false), ...others]
	return found.length > 0 ? { warnings: found } : {}
}
