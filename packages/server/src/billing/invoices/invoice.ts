// A stored invoice, a blank one, and the fields that are derived on reading.

import type { Invoice, InvoiceStatus, OrganizationSettings, Party, PaymentState } from '../../generated/contract.ts'
import { blanks } from '../../generated/tables.ts'
import { dayMs, type Today } from '../../platform/base/dates.ts'
import { newId } from '../../platform/base/ids.ts'

/** An invoice as it is stored: without the fields that are derived on reading. */
export interface StoredInvoice extends Omit<Invoice, 'amountDueCents' | 'paymentState' | 'isOverdue'> {
	/** Whether a payment gave it the status `paid`, and not a caller: then the payment's reversal takes it away. */
	readonly paidByPayment: boolean
	/** The status that it had before a payment gave it `paid`; null of one that a server of the version before made paid, too. */
	readonly statusBeforePayment: InvoiceStatus | null
	/** Whether a caller wrote `billTo`, and `billFrom`, so that the company's record and the settings do not matter. */
	readonly billToWritten: boolean
	readonly billFromWritten: boolean
	/** Whether a caller wrote `language`. */
	readonly languageWritten: boolean
}

/** The fields of a stored invoice that no answer shows and that are true or false. */
export const hiddenFlags = ['paidByPayment', 'billToWritten', 'billFromWritten', 'languageWritten'] as const

/** A buyer or seller of whom nothing but a name is known. */
export const blankParty = {
	contactName: null,
	addressLine1: null,
	addressLine2: null,
	city: null,
	state: null,
	postalCode: null,
	country: null,
	email: null,
	phone: null,
	taxId: null,
	vatId: null,
	registration: null,
	bankAccount: null,
	footer: null,
} satisfies Omit<Party, 'name'>

/** A new invoice before any input: it copies some of the organization's settings. */
export function blankInvoice(organization: OrganizationSettings, now: number): StoredInvoice {
	const { id: organizationId, taxRounding, timeRounding, timeRoundingMinutes, defaultCurrency, paymentTerms } = organization
	return {
		...blanks.Invoice,
		id: newId('inv'),
		organizationId,
		invoiceNumber: '',
		status: 'draft',
		paidByPayment: false,
		statusBeforePayment: null,
		billToWritten: false,
		billFromWritten: false,
		languageWritten: false,
		subtotalCents: 0,
		taxRate: 0,
		taxLabel: 'Tax',
		taxCents: 0,
		totalCents: 0,
		currency: defaultCurrency,
		paymentTerms,
		showRateBreakdown: false,
		includeTimesheet: false,
		taxRounding,
		timeRounding,
		timeRoundingMinutes,
		lineItems: [],
		taxBreakdown: [],
		amountPaidCents: 0,
		amountCreditedCents: 0,
		viewCount: 0,
		createdAt: now,
		updatedAt: now,
		version: 1,
	}
}

type Balance = Pick<StoredInvoice, 'status' | 'totalCents' | 'amountPaidCents' | 'amountCreditedCents'>

/** The amount that is still owed. */
export const amountDue = ({ status, totalCents, amountPaidCents, amountCreditedCents }: Balance) =>
	status === 'cancelled' ? 0 : totalCents - amountPaidCents - amountCreditedCents

/** Why nothing is owed on an invoice on which that is so. */
export function whyNothing({ status, totalCents }: Balance): string {
	if (status === 'paid' || status === 'cancelled') return `it is ${status}`
	if (totalCents <= 0) return totalCents < 0 ? 'it is a credit' : 'its total is 0'
	return 'all of it is paid'
}

/** How much of it is paid, whatever its status says. */
export function paymentState({ status, totalCents, amountPaidCents, amountCreditedCents }: Balance): PaymentState {
	const settled = amountPaidCents + amountCreditedCents
	const isCovered = totalCents === 0 ? status === 'paid' : settled / totalCents >= 1
	if (isCovered) return 'paid'
	return amountPaidCents === 0 ? 'unpaid' : 'partially_paid'
}

/** Whether it becomes late once its due day is past: its client owes something. Where the total is below 0, the seller owes it. */
export const canBeLate = (invoice: Balance & Pick<StoredInvoice, 'dueDate'>): boolean =>
	invoice.dueDate !== null && invoice.totalCents > 0 && isOutstanding(invoice)

/**
 * Whether its client has it, and something of it is owed. The amounts decide, also where the status is `paid`: a caller may have written that
 * before the total rose.
 */
const isOutstanding = (invoice: Balance): boolean =>
	!['draft', 'cancelled'].includes(invoice.status) && invoice.totalCents !== 0 && paymentState(invoice) !== 'paid'

/** Whether money is owed whose due day is past. A due date at midnight UTC is a day; any other is an instant. */
export function isLate(invoice: Balance & Pick<StoredInvoice, 'dueDate'>, today: Today): boolean {
	const due = invoice.dueDate ?? today.instant
	return canBeLate(invoice) && due < (due % dayMs === 0 ? today.date : today.instant)
}

/** The invoice as a GET answers it, with its derived fields. The queries of store.ts say the same in SQL. */
export function asRead(stored: StoredInvoice, today: Today): Invoice {
	const { paidByPayment, statusBeforePayment, billToWritten, billFromWritten, languageWritten, ...invoice } = stored
	const derived = { amountDueCents: amountDue(invoice), paymentState: paymentState(invoice), isOverdue: isLate(invoice, today) }
	return { ...invoice, ...derived }
}
