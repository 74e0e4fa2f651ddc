// Applies an input to an invoice: the stored invoice and the input give the next one. Pure, and the same for create, update
// and preview.

import type { InvoiceInput, Party, PartyInput, TaxRate } from '../../generated/contract.ts'
import { type Today, toMs } from '../../platform/base/dates.ts'
import { ApiError, checkAll, fieldError } from '../../platform/base/errors.ts'
import { checkParty } from '../../platform/base/party-fields.ts'
import { blankParty, type StoredInvoice } from './invoice.ts'
import { type Line, mergeLines, requireForward, taxesOf } from './pricing/lines.ts'
import { computeInvoice, type InvoiceTotals, type LineAmounts, TotalsError } from './pricing/totals.ts'
import type { Snapshot } from './snapshot.ts'
import { applyStatus, paidOf, statusOfDay, statusOfMoney } from './status.ts'

const totals = ['subtotalCents', 'taxCents', 'totalCents'] as const
const dates = ['issuedDate', 'dueDate', 'paidDate', 'periodStart', 'periodEnd'] as const

/** What the server writes on an invoice: the fields that a caller may write, and those that other operations set. */
export interface WrittenInvoice extends InvoiceInput {
	/** The lines of an invoice from time entries. */
	readonly timeLines?: readonly Line[]
	/** When the invoice was sent to its client, unless a change of its status sets that. */
	readonly sentAt?: number
	/** What it has of payments once one was put on it or taken off it. */
	readonly amountPaidCents?: number
	/** Whether a draft gets its number before it is issued: the e-mail that issues it must show it. */
	readonly takesNumber?: true
	/** What the e-mail that sends it shows of other records. */
	readonly mailed?: Snapshot
}

interface Moment {
	readonly now: number
	/** In the organization's time zone. */
	readonly today: Today
}

/** The invoice with the input applied. `taxRates` are the rates that the input names, `paidByStatus` is paid by its status alone. */
export function applyInput(
	stored: StoredInvoice,
	input: WrittenInvoice,
	{ now, today }: Moment,
	taxRates: ReadonlyMap<string, TaxRate> = new Map(),
	paidByStatus = 0,
): StoredInvoice {
	const {
		lineItems,
		timeLines,
		takesNumber,
		mailed,
		issuedDate,
		dueDate,
		paidDate,
		periodStart,
		periodEnd,
		billTo,
		billFrom,
		language,
		...plain
	} = input
	const next = { ...stored, ...plain, updatedAt: now } as StoredInvoice & Record<(typeof dates)[number], number | null>
	for (const field of dates) {
		const written = input[field]
		if (written !== undefined) next[field] = written === null ? null : toMs(written)
	}
	if (input.sentAt !== undefined) next.issuedDate ??= input.sentAt
	requireForward(next, '')
	for (const field of totals) if (Object.is(next[field], -0)) next[field] = 0
	const lines = timeLines ?? (lineItems ? mergeLines(stored.lineItems, lineItems, taxRates) : stored.lineItems)
	if (lines.length > 0) Object.assign(next, amounts(stored, next, lines, input))
	else if (stored.lineItems.length > 0) Object.assign(next, withoutLines, writtenTotals(input))
	Object.assign(next, { amountPaidCents: paidOf(stored, next, input, paidByStatus) })
	Object.assign(next, statusOfMoney(stored, next, input))
	Object.assign(next, statusOfDay(stored, next, input, today))
	return {
		...applyStatus(stored, next, input, now),
		...parties(stored, next, input),
		...writing(stored, next, input),
	}
}

type Parties = Pick<StoredInvoice, 'billTo' | 'billToWritten' | 'billFrom' | 'billFromWritten' | 'timeZone' | 'branding'>

/**
 * Buyer and seller that the input writes. What nobody wrote goes when a sent invoice becomes a draft, and the buyer with its
 * company: sending takes them anew.
 */
function parties(stored: StoredInvoice, next: StoredInvoice, { billTo, billFrom }: InvoiceInput): Parties {
	const becomesDraft = next.status === 'draft' && stored.status !== 'draft'
	const isOtherBuyer = next.companyId !== stored.companyId || (becomesDraft && !stored.billToWritten)
	const isOtherSeller = becomesDraft && !stored.billFromWritten
	const [buyer, seller] = checkAll(
		() => partyOf(billTo ?? null, '/billTo'),
		() => partyOf(billFrom ?? null, '/billFrom'),
	)
	return {
		billTo: billTo === undefined ? (isOtherBuyer ? null : stored.billTo) : buyer,
		billToWritten: billTo === undefined ? stored.billToWritten && !isOtherBuyer : billTo !== null,
		billFrom: billFrom === undefined ? (isOtherSeller ? null : stored.billFrom) : seller,
		billFromWritten: billFrom === undefined ? stored.billFromWritten && !isOtherSeller : billFrom !== null,
		timeZone: becomesDraft ? null : stored.timeZone,
		branding: becomesDraft ? null : stored.branding,
	}
}

type Writing = Pick<StoredInvoice, 'language' | 'languageWritten' | 'locale'>

/** The language, which is the buyer's unless a caller wrote one, and the locale that follows from it: another language needs another one. */
function writing(stored: StoredInvoice, next: StoredInvoice, { language }: InvoiceInput): Writing {
	if (language !== undefined && (language !== stored.language || language === null))
		return { language, languageWritten: language !== null, locale: null }
	const languageWritten = stored.languageWritten || language !== undefined
	const becomesDraft = next.status === 'draft' && stored.status !== 'draft'
	const isOtherBuyer = next.companyId !== stored.companyId && !languageWritten
	if (!becomesDraft && !isOtherBuyer) return { language: stored.language, languageWritten, locale: stored.locale }
	return { language: languageWritten ? stored.language : null, languageWritten, locale: null }
}

const partyOf = (input: PartyInput | null, place: string): Party | null => input && { ...blankParty, ...checkParty(input, place) }

/** When the last line is removed, the totals become 0 unless the input writes them. */
const withoutLines = { lineItems: [], taxBreakdown: [], subtotalCents: 0, taxCents: 0, totalCents: 0 }

const writtenTotals = (input: InvoiceInput) =>
	Object.fromEntries(totals.filter((field) => input[field] !== undefined).map((field) => [field, input[field]]))

type Amounts = Pick<StoredInvoice, 'lineItems' | 'taxBreakdown' | (typeof totals)[number]>

/**
 * The lines and their amounts. They are computed only when the input writes lines or taxes: a new note must not change an
 * issued invoice that an older rule computed.
 */
function amounts(stored: StoredInvoice, next: StoredInvoice, lines: readonly Line[], input: WrittenInvoice): Amounts {
	const isPriced = [input.lineItems, input.timeLines, input.taxRate, input.taxLabel].some((written) => written !== undefined)
	const { lineItems, subtotalCents, taxCents, totalCents, taxBreakdown } = isPriced ? price(next, lines, input) : stored
	const result = { lineItems, subtotalCents, taxCents, totalCents, taxBreakdown }
	rejectOtherTotals(result, input)
	return result
}

/** Totals that are written with lines must equal the totals of the lines. */
function rejectOtherTotals(amounts: Amounts, input: InvoiceInput): void {
	const errors = totals
		.filter((field) => input[field] !== undefined && input[field] !== amounts[field])
		.map((field) => ({
			pointer: `/${field}`,
			code: 'totals_mismatch',
			detail: `is ${input[field]}, but the line items give ${amounts[field]}`,
		}))
	if (errors.length === 0) return
	const detail = `The line items give a total of ${amounts.totalCents}; leave the totals out, or send these.`
	throw new ApiError('totals_mismatch', detail, { errors })
}

function price(invoice: StoredInvoice, lines: readonly Line[], { timeLines }: WrittenInvoice): Amounts {
	/** The field of the request that a line comes from. */
	const pointerTo = (line: number | null) => (timeLines ? '/timeEntryIds' : line === null ? '/lineItems' : `/lineItems/${line}`)
	const computed = compute(invoice, lines, pointerTo)
	return { ...computed, lineItems: lines.map((line, index) => ({ ...line, ...(computed.lines[index] as LineAmounts) })) }
}

function compute(invoice: StoredInvoice, lines: readonly Line[], pointerTo: (line: number | null) => string): InvoiceTotals {
	try {
		const { taxRounding } = invoice
		return computeInvoice({ taxRounding, lines: lines.map((line) => ({ ...line, taxes: taxesOf(line, invoice) })) })
	} catch (error) {
		if (error instanceof TotalsError) throw fieldError(error.code, pointerTo(error.line), error.message)
		throw error
	}
}
