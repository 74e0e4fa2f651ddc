// The one door to write an invoice, in the transaction of the change: handlers, payments, sending, background work and the
// demo all go through it. It does every step: references, tax rates, amounts, number, parties, time entries, links, deal and
// events. Only the count of views is written elsewhere (sharing/public-view.ts).

import type { EventType, TimeEntry } from '../../generated/contract.ts'
import { endOfDay, todayIn } from '../../platform/base/dates.ts'
import { fieldError } from '../../platform/base/errors.ts'
import { difference, recordChange } from '../../platform/db/audit-log.ts'
import { type Db, UniqueViolation } from '../../platform/db/database.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { changesBetween } from '../../platform/events/changes.ts'
import { scheduleJob } from '../../platform/work/jobs-store.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import { companies } from '../companies/store.ts'
import { advanceDealOnPayment, deals } from '../deals/store.ts'
import { follow, freeAll, paidByStatus, sharesOf } from '../ledger/follow.ts'
import { findSharesOfInvoice } from '../ledger/store.ts'
import { markRatesUsed } from '../tax-rates/store.ts'
import { freeTimeEntries } from '../time-entries/store.ts'
import { applyInput, type WrittenInvoice } from './apply.ts'
import { audited, invoiceNow, recordInvoiceEvents, textOf } from './events.ts'
import { amountDue, asRead, blankInvoice, canBeLate, hiddenFlags, paymentState, type StoredInvoice } from './invoice.ts'
import { findNamedRates } from './named-rates.ts'
import { draftNumber, seriesOf } from './numbers/series.ts'
import { advanceCounter, insertNumbered, insertTombstone, isNumberRetired, noteRenumbered, takeNumber } from './numbers/store.ts'
import { closePaymentLinks } from './payment-link-store.ts'
import { withSnapshot } from './snapshot.ts'
import { becomes, isFirstSent } from './status.ts'
import { hasOpenInvoices, insertInvoiceIfFree, insertInvoiceLater, removeInvoice, updateInvoice } from './store.ts'
import { heldEntries, moveTimeEntries } from './time-claims.ts'

/** Computes the invoice that the input would create, and stores nothing. */
export async function previewInvoice(write: WriteContext, input: WrittenInvoice): Promise<StoredInvoice> {
	const blank = blankInvoice(write.organization, write.origin.now)
	return applyChecked(write, blank, input)
}

/** Computes what a change would make of an invoice, and stores nothing. */
export async function previewChange(write: WriteContext, stored: StoredInvoice, input: WrittenInvoice): Promise<StoredInvoice> {
	const { organizationId, id } = stored
	const shares = isAboutMoney(stored, input) ? await findSharesOfInvoice(write.db, organizationId, id) : []
	return applyChecked(write, stored, input, paidByStatus(shares))
}

/** Stores a new invoice, under the input's number or the organization's next one. `entries` are those of its time, locked. */
export async function createInvoice(
	write: WriteContext,
	input: WrittenInvoice,
	entries?: readonly TimeEntry[],
): Promise<StoredInvoice> {
	const { db, origin, organization } = write
	const blank = blankInvoice(organization, origin.now)
	const next = await applyChecked(write, blank, input)
	await markNewRates(db, blank, next)
	let invoice = await withSnapshot(db, next)
	if (invoice.invoiceNumber === '' && organization.numberOnIssue && invoice.status === 'draft')
		invoice = { ...invoice, invoiceNumber: draftNumber(invoice.id) }
	if (invoice.invoiceNumber === '')
		invoice = await insertNumbered(db, invoice, seriesFor(write, invoice), organization, {
			insertLater: insertInvoiceLater,
			insertIfFree: insertInvoiceIfFree,
		})
	else {
		await requireFreeNumber(write, invoice)
		if (!(await insertInvoiceIfFree(db, invoice))) throw numberTaken(invoice.invoiceNumber)
	}
	await moveTimeEntries(db, origin, blank, invoice, '/timeEntryIds', entries)
	if (invoice.amountPaidCents !== 0) await follow(write, blank, invoice, [])
	await scheduleOverdue(write, blank, invoice)
	const data = textOf(write, invoice)
	await Promise.all([
		recordInvoiceEvents(write, invoice, ['invoice.created', ...milestones(blank, invoice)], { data }),
		recordChange(write, { ...audited(invoice), action: 'created', after: data }),
	])
	return invoice
}

export interface ChangedInvoice {
	readonly version: number
	/** The key of the deal's new stage, when this payment moved the deal. */
	readonly stageAdvanced: string | undefined
}

/**
 * Changes an invoice that was read with `lockInvoice`, unless it is already as the input says. `more` are events to record besides
 * those of the change itself.
 */
export async function changeInvoice(
	write: WriteContext,
	stored: StoredInvoice,
	input: WrittenInvoice,
	more: readonly EventType[] = [],
): Promise<ChangedInvoice> {
	const { db, origin, organization } = write
	// What the ledger has put on the invoice, or taken off it, already.
	const { amountPaidCents = stored.amountPaidCents } = input
	const shares = isAboutMoney(stored, input) ? await sharesOf(write, { ...stored, amountPaidCents }) : []
	const applied = await applyChecked(write, stored, input, paidByStatus(shares))
	const next = await withSnapshot(db, await numbered(write, applied, input), input.mailed)
	const today = todayIn(organization.timeZone, origin.now)
	const before = asRead(stored, today)
	const changes = changesBetween(before, asRead(next, today))
	const hasChanges = Object.keys(changes).length > 0
	if (!hasChanges && more.length === 0) return keepInvoice(db, stored, next)
	await markNewRates(db, stored, next)
	const invoice = { ...next, updatedAt: origin.now, version: stored.version + 1 }
	if (applied.invoiceNumber !== stored.invoiceNumber) await renumber(write, stored, invoice)
	await updateInvoice(db, invoice).catch((error) => {
		throw error instanceof UniqueViolation ? numberTaken(invoice.invoiceNumber) : error
	})
	await moveTimeEntries(db, origin, stored, invoice, '/status')
	if (shares.length > 0 || invoice.amountPaidCents !== 0) await follow(write, stored, invoice, shares)
	await scheduleOverdue(write, stored, invoice)
	const isWithdrawn = invoice.status === 'draft' && !organization.publishDrafts
	if (amountDue(invoice) !== amountDue(stored) || invoice.currency !== stored.currency || isWithdrawn)
		await closePaymentLinks(db, invoice, origin.now)
	const values = difference(before, asRead(invoice, today), Object.keys(changes))
	const updated = hasChanges ? (['invoice.updated'] as const) : []
	const events = [...updated, ...new Set([...milestones(stored, invoice), ...more])]
	await Promise.all([
		recordChange(write, { ...audited(invoice), action: 'updated', ...values }),
		recordInvoiceEvents(write, invoice, events, { changes }),
	])
	return { version: invoice.version, stageAdvanced: await advanceDeal(write, stored, invoice) }
}

/** Whether the change can be one of the ledger. Nothing is asked of the ledger for a note on an unpaid invoice. */
const isAboutMoney = ({ amountPaidCents }: StoredInvoice, { status, ...input }: WrittenInvoice) =>
	amountPaidCents !== 0 || input.amountPaidCents !== undefined || status === 'paid' || status === 'cancelled'

/** Moves the deal of an invoice that this change marks paid; returns its new stage. */
async function advanceDeal(write: WriteContext, before: StoredInvoice, after: StoredInvoice): Promise<string | undefined> {
	const { organizationId, dealId } = after
	if (!becomes('paid', before, after) || dealId === null) return undefined
	return advanceDealOnPayment(write, dealId, () => hasOpenInvoices(write.db, organizationId, dealId))
}

/** No answer shows what a caller wrote of an unchanged invoice, such as a date that followed from its status: its version stays. */
async function keepInvoice(db: Db, stored: StoredInvoice, next: StoredInvoice): Promise<ChangedInvoice> {
	const { version, updatedAt } = stored
	if (hiddenFlags.some((flag) => next[flag] !== stored[flag])) await updateInvoice(db, { ...next, version, updatedAt })
	return { version, stageAdvanced: undefined }
}

/** Deletes an invoice that was read with `lockInvoice`; a tombstone explains the gap in the numbers. */
export async function deleteInvoice(write: WriteContext, invoice: StoredInvoice): Promise<void> {
	const { db, origin } = write
	const { organizationId, id, invoiceNumber, totalCents, currency } = invoice
	const data = await invoiceNow(write, invoice)
	await Promise.all([
		recordInvoiceEvents(write, invoice, ['invoice.deleted'], { data }),
		recordChange(write, { ...audited(invoice), action: 'deleted', before: data }),
	])
	await freeTimeEntries(db, invoice, heldEntries(invoice), origin)
	await freeAll(write, invoice)
	await closePaymentLinks(db, invoice, origin.now)
	await removeInvoice(db, organizationId, id)
	const deletedBy = origin.actor.id ?? origin.actor.type
	const tombstone = { organizationId, invoiceId: id, invoiceNumber, totalCents, currency, deletedBy, deletedAt: origin.now }
	await insertTombstone(db, tombstone)
}

/** Applies the input, and checks that every record which the input newly names exists. */
async function applyChecked(
	{ db, origin, organization }: WriteContext,
	before: StoredInvoice,
	input: WrittenInvoice,
	paidByItsStatus = 0,
): Promise<StoredInvoice> {
	const rates = await findNamedRates(db, organization.id, input, before)
	const moment = { now: origin.now, today: todayIn(organization.timeZone, origin.now) }
	const invoice = applyInput(before, input, moment, rates, paidByItsStatus)
	// An invoice from time entries has the deal that its caller locked, and that deal's company, deleted or not.
	if (input.timeLines) return invoice
	// The invoice may keep a deal or company that was deleted since it was named.
	const { dealId, companyId } = invoice
	if (dealId !== null && dealId !== before.dealId) await deals.require(db, organization.id, dealId, '/dealId')
	if (companyId !== null && companyId !== before.companyId) await companies.require(db, organization.id, companyId, '/companyId')
	return invoice
}

/** An invoice that is sent, whose due date is moved, or that owes something again is due to turn overdue when its day ends (overdue.ts). */
async function scheduleOverdue({ db, organization }: WriteContext, before: StoredInvoice, after: StoredInvoice): Promise<void> {
	const { organizationId, status, dueDate } = after
	const isScheduled = before.status === 'sent' && before.dueDate === dueDate && canBeLate(before)
	if (status !== 'sent' || dueDate === null || isScheduled) return
	const dueAt = endOfDay(organization.timeZone, dueDate)
	await scheduleJob(db, { organizationId, kind: jobKinds.overdue, resourceId: '', dueAt })
}

/** Marks the rates that lines newly have as used, which fixes their percentage and inclusion. */
async function markNewRates(db: Db, before: StoredInvoice, { organizationId, lineItems }: StoredInvoice): Promise<void> {
	const known = new Set(before.lineItems.map(({ taxRateId }) => taxRateId))
	const ids = lineItems.flatMap(({ taxRateId }) => (taxRateId === null || known.has(taxRateId) ? [] : taxRateId))
	if (ids.length > 0) await markRatesUsed(db, organizationId, ids)
}

/** The events of the statuses that a change reaches: sent, paid, overdue, cancelled. */
function milestones(before: StoredInvoice, after: StoredInvoice): EventType[] {
	const reached = (['paid', 'overdue', 'cancelled'] as const).filter((status) => becomes(status, before, after))
	const isPartly = after.amountPaidCents > before.amountPaidCents && paymentState(after) === 'partially_paid'
	return [
		...(isFirstSent(before, after) ? ['invoice.sent' as const] : []),
		...(isPartly ? ['invoice.partially_paid' as const] : []),
		...reached.map((status) => `invoice.${status}` as const),
	]
}

const seriesFor = ({ organization, origin }: WriteContext, { issuedDate }: StoredInvoice) =>
	seriesOf(organization, issuedDate ?? origin.now)

/** A draft that is one no longer, or is about to be sent, gets its number, where numbers are given on issue. */
async function numbered(write: WriteContext, invoice: StoredInvoice, { takesNumber }: WrittenInvoice): Promise<StoredInvoice> {
	const { organizationId, id, status, invoiceNumber } = invoice
	if ((status === 'draft' && !takesNumber) || invoiceNumber !== draftNumber(id)) return invoice
	const series = seriesFor(write, invoice)
	return { ...invoice, invoiceNumber: await takeNumber(write.db, { organizationId, series }, write.organization) }
}

const skippedBy = ({ origin }: WriteContext, invoiceId: string) => ({
	invoiceId,
	skippedBy: origin.actor.id ?? origin.actor.type,
	skippedAt: origin.now,
})

async function renumber(write: WriteContext, before: StoredInvoice, after: StoredInvoice): Promise<void> {
	const { db, organization } = write
	await requireFreeNumber(write, after)
	await noteRenumbered(db, organization.id, before.invoiceNumber, organization, skippedBy(write, before.id))
}

/** Throws when a deleted invoice had this number, else advances the counter past it. An index rejects a live invoice's number. */
async function requireFreeNumber(write: WriteContext, { id, organizationId, invoiceNumber }: StoredInvoice): Promise<void> {
	const { db, organization } = write
	if (await isNumberRetired(db, organizationId, invoiceNumber)) throw numberTaken(invoiceNumber)
	await advanceCounter(db, organizationId, invoiceNumber, organization, skippedBy(write, id))
}

const numberTaken = (invoiceNumber: string) =>
	fieldError('invoice_number_taken', '/invoiceNumber', `The number ${invoiceNumber} is, or was, another invoice's.`)
