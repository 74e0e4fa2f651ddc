// Presents an invoice: its final words in its language, with numbers and dates in its locale. Pure, and without a clock: the
// invoice says whether it is overdue, so the same invoice always gives the same document.
import { friendlyFormatIBAN } from 'ibantools'
import type {
	Branding,
	DocumentFact,
	DocumentLabels,
	DocumentLine,
	DocumentLogo,
	DocumentPassage,
	DocumentTotal,
	Invoice,
	InvoiceDocument,
	InvoiceStatus,
	Language,
	LineItem,
	Logo,
	Party,
	TaxBreakdown,
} from '../../../generated/contract.ts'
import {
	formatDate,
	formatDecimalText,
	formatHours,
	formatMoney,
	formatPercent,
	supportedLocale,
} from '../../../platform/base/format.ts'
import { fill, wordsOf } from '../../../platform/rendering/words/languages.ts'
import type { Words } from '../../../platform/rendering/words/words.ts'
import { taxesOf } from '../pricing/lines.ts'
import { isTimed, rateTable, timesheetTable, type WorkedTime } from './annex.ts'
import { accountName, routingName } from './bank-labels.ts'
import { buyerLines, sellerLines } from './letterhead.ts'

export interface PresentSource {
	readonly invoice: Invoice
	/** As of the first sending, or as of now before that. */
	readonly seller: Party
	readonly buyer: Party | null
	readonly language: Language
	readonly locale: string
	readonly timeZone: string
	readonly branding?: Branding
	/** The bytes of its logo, in base64. */
	readonly logoData?: string | null
	/** The client's page; null without a client link. */
	readonly viewUrl: string | null
	/** Where the client can pay the invoice; null when nowhere. */
	readonly paymentUrl: string | null
	/** The time entries that the invoice's lines charge. */
	readonly timeEntries: readonly WorkedTime[]
}

/** How the texts of a document are written. */
export interface Writing {
	readonly words: Words
	readonly locale: string
	readonly money: (cents: number | string) => string
	readonly date: (ms: number) => string
}

export function presentInvoice({ invoice, seller, buyer, language, timeZone, ...source }: PresentSource): InvoiceDocument {
	const locale = supportedLocale(source.locale)
	const words = wordsOf(language)
	const { currency, lineItems, amountDueCents } = invoice
	const money = (cents: number | string) => formatMoney(cents, currency, locale)
	const writing: Writing = { words, locale, money, date: (ms) => formatDate(ms, locale, timeZone) }
	const isPayable = amountDueCents > 0
	const key = standing(invoice)
	const lines = lineItems.map((line) => presentLine(line, invoice, writing))
	return {
		language,
		locale,
		...brand(source),
		title: invoice.totalCents < 0 ? words.creditNote : words.invoice,
		number: invoice.invoiceNumber,
		status: { key, label: words.status[key] },
		seller: sellerLines(seller, words),
		buyer: buyer ? buyerLines(buyer, words) : [],
		facts: facts(invoice, writing),
		labels: labels(words),
		columns: columns(lines.filter((_, index) => lineItems[index]?.kind !== 'text')),
		lines,
		totals: [...amounts(invoice, writing), ...balance(invoice, writing)],
		due: isPayable ? money(amountDueCents) : null,
		passages: [
			...passage(words.notes, invoice.notes),
			...passage(words.paymentTerms, invoice.paymentTerms),
			...(isPayable ? passage(words.bankTransfer, account(seller, words)) : []),
		],
		footer: joined([seller.registration, seller.footer]) || null,
		viewUrl: source.viewUrl,
		paymentUrl: isPayable ? source.paymentUrl : null,
		rates: invoice.showRateBreakdown ? rateTable(lineItems, writing) : null,
		timesheet: invoice.includeTimesheet ? timesheetTable(source.timeEntries, { words, locale, timeZone }) : null,
	}
}

/** What is due and when decides, and not the word of a caller who wrote `paid` before the total rose, or `overdue` before the day has come. */
const isOpen = ({ status, amountDueCents }: Invoice) => status === 'overdue' || (status === 'paid' && amountDueCents > 0)

const standing = (invoice: Invoice): InvoiceStatus => (invoice.isOverdue ? 'overdue' : isOpen(invoice) ? 'sent' : invoice.status)

/** Nothing for an organization without logo and colour. */
function brand({ branding, logoData }: Pick<PresentSource, 'branding' | 'logoData'>): Pick<InvoiceDocument, 'brand'> {
	const logo = branding?.logo && logoData ? withData(branding.logo, logoData) : null
	const accentColor = branding?.accentColor ?? null
	return logo || accentColor ? { brand: { accentColor, logo } } : {}
}

const withData = ({ format, width, height }: Logo, data: string): DocumentLogo => ({ format, width, height, data })

const labels = ({ billedTo, description, quantity, unitPrice, discount, tax, amount }: Words): DocumentLabels => ({
	billedTo,
	description,
	quantity,
	unitPrice,
	discount,
	tax,
	amount,
})

/** Taxes that are the same on every line need no column: the totals name them. */
const columns = (priced: readonly DocumentLine[]): InvoiceDocument['columns'] => ({
	discount: priced.some((line) => line.discount !== ''),
	tax: new Set(priced.map((line) => line.tax)).size > 1,
})

const passage = (title: string, text: string | null): DocumentPassage[] => (text?.trim() ? [{ title, text }] : [])

const joined = (texts: readonly (string | null)[]) => texts.filter((text) => text?.trim()).join('\n')

/** Null also for an account of which nothing is known but a name: nobody could pay into it. */
function account({ name, country, bankAccount }: Party, words: Words): string | null {
	if (!bankAccount) return null
	const { holder, bankName, iban, bic, accountNumber, routingNumber } = bankAccount
	const numbers = [
		iban && `IBAN ${friendlyFormatIBAN(iban)}`,
		bic && `BIC ${bic}`,
		accountNumber && `${accountName(country, accountNumber) ?? words.account} ${accountNumber}`,
		routingNumber && `${routingName(country) ?? words.routingNumber} ${routingNumber}`,
	]
	if (!numbers.some(Boolean)) return null
	return joined([holder ?? name, bankName, ...numbers])
}

/** The payment method is shown only once there is a date of payment, and neither while something is owed, whatever a caller wrote. */
function facts(invoice: Invoice, { words, date }: Writing): DocumentFact[] {
	const day = (ms: number | null) => ms !== null && date(ms)
	const paidDate = invoice.amountDueCents > 0 ? null : invoice.paidDate
	const all: [label: string, value: string | false | null][] = [
		[words.issued, day(invoice.issuedDate)],
		[words.due, day(invoice.dueDate)],
		[words.servicePeriod, period(invoice, date)],
		[words.paid, day(paidDate)],
		[words.paidBy, paidDate !== null && invoice.paymentMethod],
		[words.reference, invoice.paymentReference],
	]
	return all.flatMap(([label, value]) => (value ? [{ label, value }] : []))
}

/** A day when the period is one, or only one of its ends is known. */
function period({ periodStart, periodEnd }: Pick<LineItem, 'periodStart' | 'periodEnd'>, date: (ms: number) => string): string {
	// A server of the version before, which runs on for a while beside this one, stores lines without these.
	const days = [periodStart, periodEnd].flatMap((ms) => (typeof ms === 'number' ? date(ms) : []))
	return [...new Set(days)].join(' – ')
}

function presentLine(line: LineItem, invoice: Invoice, writing: Writing): DocumentLine {
	const { unit } = line
	const { words, locale, money, date } = writing
	const description = [line.description, period(line, date)].filter(Boolean).join('\n')
	const empty = { quantity: '', unitPrice: '', discount: '', tax: '', amount: '' }
	if (line.kind === 'text') return { kind: 'heading', description, ...empty }
	const quantity = isTimed(line) ? formatHours(line.durationSeconds, locale) : formatDecimalText(line.quantity, locale)
	const isDiscount = line.kind === 'discount'
	// Once its price says no more than the amount does.
	const isOnce = isDiscount && line.quantity === '1' && unit === null
	return {
		...(isDiscount && { kind: 'discount' as const }),
		description: isDiscount && !description ? words.discount : description,
		quantity: isOnce ? '' : unit ? `${quantity} ${unit}` : quantity,
		unitPrice: isOnce ? '' : money(line.unitPriceCents),
		discount: discount(line, writing),
		tax: taxesOf(line, invoice)
			.map((tax) => (tax.inclusive ? fill(words.taxIncluded, { tax: taxName(tax, writing) }) : taxName(tax, writing)))
			.join(', '),
		amount: money(line.amountCents),
	}
}

function discount({ discountPercent, discountCents }: LineItem, { money, locale }: Writing): string {
	if (Number(discountPercent) !== 0) return formatPercent(`-${discountPercent}`, locale)
	return discountCents ? money(-discountCents) : ''
}

/**
 * The rows that add up to the total, and below it the taxes that the prices contain. The printed lines add up to the first
 * row: the subtotal, or the sum of lines when some prices contain tax. When nothing is added to it, the total stands alone.
 */
function amounts(invoice: Invoice, writing: Writing): DocumentTotal[] {
	const { taxBreakdown, taxCents, totalCents } = invoice
	const { words, money } = writing
	const row = (label: string, cents: number, kind: DocumentTotal['kind'] = 'plain') => ({ label, value: money(cents), kind })
	const taxed = (tax: TaxBreakdown) => ({ tax: taxName(tax, writing), amount: money(tax.taxableCents) })
	const contained = taxBreakdown.filter((tax) => tax.inclusive)
	const added = taxBreakdown.filter((tax) => !tax.inclusive).map((tax) => row(fill(words.taxOn, taxed(tax)), tax.taxCents))
	if (taxBreakdown.length === 0 && taxCents !== 0) {
		const { taxLabel: label, taxRate } = invoice
		added.push(row(taxName({ label, percent: taxRate === 0 ? null : String(taxRate) }, writing), taxCents))
	}
	const sum = contained.reduce((cents, tax) => cents + tax.taxCents, invoice.subtotalCents)
	// An invoice without lines may have been written with its total alone.
	const isWritten = invoice.lineItems.length > 0 || sum !== 0
	return [
		...(isWritten && (added.length > 0 || sum !== totalCents)
			? [row(contained.length > 0 ? words.sumOfLines : words.subtotal, sum)]
			: []),
		...added,
		row(words.total, totalCents, 'total'),
		...contained.map((tax) => row(fill(words.includes, { tax: fill(words.taxOf, taxed(tax)) }), tax.taxCents)),
	]
}

/** A negative amount due is the client's credit: they paid more than they owed, or the invoice is a credit note. */
function balance({ amountPaidCents, amountDueCents }: Invoice, { words, money }: Writing): DocumentTotal[] {
	const paid = { label: words.amountPaid, value: money(amountPaidCents), kind: 'plain' as const }
	const due = {
		label: amountDueCents < 0 ? words.credit : words.amountDue,
		value: money(Math.abs(amountDueCents)),
		kind: 'due' as const,
	}
	if (amountPaidCents !== 0) return [paid, due]
	return amountDueCents === 0 ? [] : [due]
}

/** A label such as `MwSt. 19 %` already names its percentage. The label of an invoice that names none is `Tax`, in its language. */
function taxName({ label, percent }: { label: string; percent: string | null }, { words, locale }: Writing): string {
	const name = label === 'Tax' ? words.tax : label
	return percent === null || /\d\s*%/.test(label) ? name : `${name} ${formatPercent(percent, locale)}`
}
