// An invoice as it is stored, a new one, and what is derived when it is read.
import { dayMs, type Today } from '../base/dates.ts'
import { newId } from '../base/ids.ts'
import type { Invoice, OrganizationSettings } from '../generated/contract.ts'

/** An invoice as it is stored: without what is derived on reading. */
export interface StoredInvoice extends Omit<Invoice, 'amountDueCents' | 'isOverdue'> {
	/** Whether `paid` set the date by itself, and so takes it away again. */
	readonly paidDateDerived: boolean
}

/** The settings that a new invoice takes over. */
export type Defaults = Pick<OrganizationSettings, 'taxRounding' | 'defaultCurrency' | 'paymentTerms'> & { organizationId: string }

/** A new invoice before anything is written on it. */
export function blankInvoice(defaults: Defaults, now: number): StoredInvoice {
	const { organizationId, taxRounding, defaultCurrency, paymentTerms } = defaults
	return {
		id: newId('inv'),
		organizationId,
		dealId: null,
		companyId: null,
		invoiceNumber: '',
		status: 'draft',
		issuedDate: null,
		dueDate: null,
		paidDate: null,
		paidDateDerived: false,
		paymentMethod: null,
		paymentReference: null,
		subtotalCents: 0,
		taxRate: 0,
		taxLabel: 'Tax',
		taxCents: 0,
		totalCents: 0,
		currency: defaultCurrency,
		notes: null,
		paymentTerms,
		showRateBreakdown: false,
		includeTimesheet: false,
		taxRounding,
		lineItems: [],
		taxBreakdown: [],
		amountPaidCents: 0,
		sentAt: null,
		viewedAt: null,
		viewCount: 0,
		billTo: null,
		billFrom: null,
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
