// Presents an invoice: its final words in English, with numbers and dates in the organization's locale. Pure, and without a
// clock: the invoice says whether it is overdue, so the same invoice always gives the same document.
import { friendlyFormatIBAN } from 'ibantools'
import { formatDate, formatDecimalText, formatHours, formatMoney, formatPercent, supportedLocale } from '../../base/format.ts'
import type { Invoice, InvoiceStatus, LineItem, LineTax, Party, TaxBreakdown } from '../../generated/contract.ts'
import type { DocumentLine, DocumentTotal, Fact, InvoiceDocument, Passage } from '../../rendering/document.ts'
import { taxesOf } from '../pricing/lines.ts'
import { isTimed, rateTable, timesheetTable, type WorkedTime } from './annex.ts'
import { buyerLines, sellerLines } from './letterhead.ts'

export interface PresentSource {
	readonly invoice: Invoice
	/** As of the first sending, or as of now before that. */
	readonly seller: Party
	readonly buyer: Party | null
	readonly locale: string
	readonly timeZone: string
	/** Where the client can pay the invoice; null when nowhere. */
	readonly paymentUrl: string | null
	/** The time entries that the invoice's lines charge. */
	readonly timeEntries: readonly WorkedTime[]
}

export function presentInvoice({ invoice, seller, buyer, timeZone, ...source }: PresentSource): InvoiceDocument {
	const locale = supportedLocale(source.locale)
	const { currency, lineItems, amountDueCents } = invoice
	const key = invoice.isOverdue ? 'overdue' : invoice.status
	const isPayable = amountDueCents > 0 && key !== 'paid' && key !== 'cancelled'
	const date = (ms: number) => formatDate(ms, locale, timeZone)
	const lines = lineItems.map((line) => presentLine(line, invoice, locale, date))
	return {
		locale,
		title: invoice.totalCents < 0 ? 'Credit note' : 'Invoice',
		number: invoice.invoiceNumber,
		status: { key, label: statusLabels[key] },
		seller: sellerLines(seller),
		buyer: buyer ? buyerLines(buyer) : [],
		facts: facts(invoice, date),
		columns: columns(lines.filter((_, index) => lineItems[index]?.kind !== 'text')),
		lines,
		totals: [...amounts(invoice, locale), ...balance(invoice, locale)],
		due: isPayable ? formatMoney(amountDueCents, currency, locale) : null,
		passages: [
			...passage('Notes', invoice.notes),
			...passage('Payment terms', invoice.paymentTerms),
			...(isPayable ? passage('Bank transfer', account(seller)) : []),
		],
		footer: joined([seller.registration, seller.footer]) || null,
		paymentUrl: isPayable ? source.paymentUrl : null,
		rates: invoice.showRateBreakdown ? rateTable(lineItems, currency, locale) : null,
		timesheet: invoice.includeTimesheet ? timesheetTable(source.timeEntries, locale, timeZone) : null,
	}
}

/** Taxes that are the same on every line need no column: the totals name them. */
const columns = (priced: readonly DocumentLine[]): InvoiceDocument['columns'] => ({
	discount: priced.some((line) => line.discount !== ''),
	tax: new Set(priced.map((line) => line.tax)).size > 1,
})

/** Words for the client: an invoice that is `sent` is open for them. */
const statusLabels: Record<InvoiceStatus, string> = {
	draft: 'Draft',
	sent: 'Open',
	paid: 'Paid',
	overdue: 'Overdue',
	cancelled: 'Cancelled',
}

const passage = (title: string, text: string | null): Passage[] => (text?.trim() ? [{ title, text }] : [])

const joined = (texts: readonly (string | null)[]) => texts.filter((text) => text?.trim()).join('\n')

function account({ name, bankAccount }: Party): string | null {
	if (!bankAccount) return null
	const { holder, bankName, iban, bic, accountNumber, routingNumber } = bankAccount
	const numbers = [
		iban && `IBAN ${friendlyFormatIBAN(iban)}`,
		bic && `BIC ${bic}`,
		accountNumber && `Account ${accountNumber}`,
		routingNumber && `Routing number ${routingNumber}`,
	]
	return joined([holder ?? name, bankName, ...numbers])
}

/** The payment method is shown only once there is a date of payment. */
function facts(invoice: Invoice, date: (ms: number) => string): Fact[] {
	const day = (ms: number | null) => ms !== null && date(ms)
	const all: [label: string, value: string | false | null][] = [
		['Issued', day(invoice.issuedDate)],
		['Due', day(invoice.dueDate)],
		['Service period', period(invoice, date)],
		['Paid', day(invoice.paidDate)],
		['Paid by', invoice.paidDate !== null && invoice.paymentMethod],
		['Reference', invoice.paymentReference],
	]
	return all.flatMap(([label, value]) => (value ? [{ label, value }] : []))
}

/** A day when the period is one, or only one of its ends is known. */
function period({ periodStart, periodEnd }: Pick<LineItem, 'periodStart' | 'periodEnd'>, date: (ms: number) => string): string {
	// A server of the version before, which runs on for a while beside this one, stores lines without these.
	const days = [periodStart, periodEnd].flatMap((ms) => (typeof ms === 'number' ? date(ms) : []))
	return [...new Set(days)].join(' – ')
}

function presentLine(line: LineItem, invoice: Invoice, locale: string, date: (ms: number) => string): DocumentLine {
	const { unit } = line
	const description = [line.description, period(line, date)].filter(Boolean).join('\n')
	if (line.kind === 'text') return { description, quantity: '', unitPrice: '', discount: '', tax: '', amount: '' }
	const money = (cents: number | string) => formatMoney(cents, invoice.currency, locale)
	const quantity = isTimed(line) ? formatHours(line.durationSeconds, locale) : formatDecimalText(line.quantity, locale)
	return {
		description,
		quantity: unit ? `${quantity} ${unit}` : quantity,
		unitPrice: money(line.unitPriceCents),
		discount: discount(line, money, locale),
		tax: taxesOf(line, invoice)
			.map((tax) => taxName(tax, locale) + (tax.inclusive ? ' incl.' : ''))
			.join(', '),
		amount: money(line.amountCents),
	}
}

function discount({ discountPercent, discountCents }: LineItem, money: (cents: number) => string, locale: string): string {
	if (Number(discountPercent) !== 0) return formatPercent(`-${discountPercent}`, locale)
	return discountCents ? money(-discountCents) : ''
}

/**
 * The rows that add up to the total, and below it the taxes that the prices contain. The printed lines add up to the first
 * row: the subtotal, or the sum of lines when some prices contain tax. When nothing is added to it, the total stands alone.
 */
function amounts(invoice: Invoice, locale: string): DocumentTotal[] {
	const { taxBreakdown, taxCents, totalCents } = invoice
	const row = (label: string, cents: number, kind: DocumentTotal['kind'] = 'plain') => ({
		label,
		value: formatMoney(cents, invoice.currency, locale),
		kind,
	})
	const taxed = (tax: TaxBreakdown) => `${taxName(tax, locale)} on ${formatMoney(tax.taxableCents, invoice.currency, locale)}`
	const contained = taxBreakdown.filter((tax) => tax.inclusive)
	const added = taxBreakdown.filter((tax) => !tax.inclusive).map((tax) => row(taxed(tax), tax.taxCents))
	if (taxBreakdown.length === 0 && taxCents !== 0) {
		const { taxLabel: label, taxRate } = invoice
		added.push(row(taxRate === 0 ? label : taxName({ label, percent: String(taxRate) }, locale), taxCents))
	}
	const sum = contained.reduce((cents, tax) => cents + tax.taxCents, invoice.subtotalCents)
	return [
		...(added.length > 0 || sum !== totalCents ? [row(contained.length > 0 ? 'Sum of lines' : 'Subtotal', sum)] : []),
		...added,
		row('Total', totalCents, 'total'),
		...contained.map((tax) => row(`Includes ${taxed(tax)}`, tax.taxCents)),
	]
}

/** A negative amount due is the client's credit: they paid more than they owed, or the invoice is a credit note. */
function balance({ amountPaidCents, amountDueCents, currency }: Invoice, locale: string): DocumentTotal[] {
	const paid = { label: 'Amount paid', value: formatMoney(amountPaidCents, currency, locale), kind: 'plain' as const }
	const due = {
		label: amountDueCents < 0 ? 'Credit' : 'Amount due',
		value: formatMoney(Math.abs(amountDueCents), currency, locale),
		kind: 'due' as const,
	}
	if (amountPaidCents !== 0) return [paid, due]
	return amountDueCents === 0 ? [] : [due]
}

/** A label such as `MwSt. 19 %` already names its percentage. */
const taxName = ({ label, percent }: Pick<LineTax, 'label' | 'percent'>, locale: string) =>
	/\d\s*%/.test(label) ? label : `${label} ${formatPercent(percent, locale)}`
