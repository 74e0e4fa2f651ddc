// An invoice as it is stored, a new one, and what is derived when it is read.
import { dayMs, type Today } from '../base/dates.ts'
import { newId } from '../base/ids.ts'
import type { Invoice, OrganizationSettings } from '../generated/contract.ts'
import { blanks } from '../generated/tables.ts'

/** An invoice as it is stored: without what is derived on reading. */
export interface StoredInvoice extends Omit<Invoice, 'amountDueCents' | 'isOverdue'> {
	/** Whether `paid` set the date by itself, and so takes it away again. */
	readonly paidDateDerived: boolean
}

/** A new invoice before anything is written on it: it takes over some of the organization's settings. */
export function blankInvoice(organization: OrganizationSettings, now: number): StoredInvoice {
	const { id: organizationId, taxRounding, defaultCurrency, paymentTerms } = organization
	return {
		...blanks.Invoice,
		id: newId('inv'),
		organizationId,
		invoiceNumber: '',
		status: 'draft',
		paidDateDerived: false,
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
		lineItems: [],
		taxBreakdown: [],
		amountPaidCents: 0,
		viewCount: 0,
		createdAt: now,
		updatedAt: now,
		version: 1,
	}
}

/** What is still owed. */
export const amountDue = ({
	status,
	totalCents,
	amountPaidCents,
}: Pick<StoredInvoice, 'status' | 'totalCents' | 'amountPaidCents'>) =>
	status === 'cancelled' ? 0 : totalCents - amountPaidCents

/** The invoice as it is read, with what is derived. The queries of store.ts say the same in SQL. */
export function asRead({ paidDateDerived, ...invoice }: StoredInvoice, today: Today): Invoice {
	const { status, dueDate } = invoice
	const begins = dueDate !== null && dueDate % dayMs === 0 ? today.date : today.instant
	const isOverdue = (status === 'sent' || status === 'overdue') && dueDate !== null && dueDate < begins
	return { ...invoice, amountDueCents: amountDue(invoice), isOverdue }
}
