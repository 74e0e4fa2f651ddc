// What Xero makes of contacts and invoices that are written, and what it rejects.
import type { Json, Stored } from './records.ts'

export interface Written {
	readonly data: Json
	readonly errors: readonly string[]
}

const named = <T>(found: T | false | undefined | null | '', message: string): string[] => (found ? [] : [message])

export function writeContact(input: Json, stored: Stored | undefined, others: readonly Stored[]): Written {
	const data: Json = { ContactStatus: 'ACTIVE', ...stored?.data, ...input }
	const { Name, EmailAddress } = data
	const isTaken = others.some(({ data, id }) => id !== stored?.id && data.Name === Name && data.ContactStatus !== 'ARCHIVED')
	const errors = [
		...named(Name, 'The contact name must be specified.'),
		...named(String(Name ?? '').length <= 255, 'The contact name cannot be longer than 255 characters.'),
		...named(!EmailAddress || /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(String(EmailAddress)), 'Email address must be valid.'),
		...named(
			!isTaken,
			`The contact name ${Name} is already assigned to another contact. The contact name must be unique across all active contacts.`,
		),
	]
	return { data, errors }
}

const finals = ['PAID', 'VOIDED', 'DELETED']

export function writeInvoice(
	input: Json,
	stored: Stored | undefined,
	others: readonly Stored[],
	contacts: { get(id: string): Stored | undefined },
): Written {
	const defaults = {
		Status: 'DRAFT',
		LineAmountTypes: 'Exclusive',
		CurrencyCode: 'NZD',
		LineItems: [],
		AmountPaid: 0,
		AmountCredited: 0,
	}
	const merged: Json = { ...defaults, ...stored?.data, ...input }
	const contact = contacts.get(String((merged.Contact as Json | undefined)?.ContactID ?? ''))
	const { Type, Status, DueDate, InvoiceNumber } = merged
	const isApproved = Status === 'AUTHORISED'
	const isTaken = InvoiceNumber && others.some(({ id, data }) => id !== stored?.id && data.InvoiceNumber === InvoiceNumber)
	const was = String(stored?.data.Status ?? 'DRAFT')
	const errors = [
		...named(Type === 'ACCREC' || Type === 'ACCPAY', 'Invoice type is required.'),
		...named(contact, 'A Contact must be specified for this type of transaction'),
		...named(!isApproved || DueDate, 'Due Date cannot be empty.'),
		...named(!isApproved || (merged.LineItems as []).length > 0, 'One or more line items must be specified'),
		...named(!isTaken || Type !== 'ACCREC', 'Invoice # must be unique.'),
		...named(!finals.includes(was), 'Invoice not of valid status for modification'),
		...named(Status !== 'VOIDED' || was === 'AUTHORISED', 'Invoice not of valid status for voiding'),
		...named(Status !== 'DELETED' || was !== 'AUTHORISED', 'Invoice not of valid status for deletion'),
	]
	return { data: { ...merged, ...totalsOf(merged) }, errors }
}

interface LineItem {
	readonly Quantity?: number
	readonly UnitAmount?: number
	readonly TaxAmount?: number
}

/** Where lines are given; else the totals that a test has set. */
function totalsOf({ LineItems, AmountPaid, AmountCredited }: Json): Json {
	const lines = LineItems as readonly LineItem[]
	if (lines.length === 0) return {}
	const priced = lines.map((line) => ({ ...line, LineAmount: cents((line.Quantity ?? 1) * (line.UnitAmount ?? 0)) }))
	const SubTotal = cents(priced.reduce((sum, { LineAmount }) => sum + LineAmount, 0))
	const TotalTax = cents(priced.reduce((sum, { TaxAmount = 0 }) => sum + TaxAmount, 0))
	const Total = cents(SubTotal + TotalTax)
	return { LineItems: priced, SubTotal, TotalTax, Total, AmountDue: cents(Total - Number(AmountPaid) - Number(AmountCredited)) }
}

const cents = (amount: number) => Math.round(amount * 100 + 1e-6) / 100
