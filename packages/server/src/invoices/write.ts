// Everything that follows from writing an invoice, in the transaction that writes it: its number, buyer and seller, time
// entries, the deal's stage, payment links and events. Whoever writes an invoice goes through here.
import { todayIn } from '../base/dates.ts'
import { fieldError } from '../base/errors.ts'
import type { Origin } from '../base/origin.ts'
import { type Db, UniqueViolation } from '../db/database.ts'
import { advanceDealOnPayment } from '../deals/store.ts'
import { changesBetween } from '../events/changes.ts'
import { recordEvent } from '../events/record.ts'
import type { EventType } from '../generated/contract.ts'
import { freeTimeEntries } from '../time-entries/store.ts'
import { amountDue, asRead, type StoredInvoice } from './invoice.ts'
import { insertNumbered, insertTombstone, isBuried, noteNumber } from './number-store.ts'
import { partiesOf } from './parties.ts'
import { closePaymentLinks } from './payment-link-store.ts'
import { becomes, isFirstSent } from './status.ts'
import { findInvoice, insertInvoice, removeInvoice, updateInvoice } from './store.ts'
import { heldEntries, moveTimeEntries } from './time-claims.ts'

/** Who writes, and where the organization's days begin and end. */
export interface Writing {
	readonly db: Db
	readonly origin: Origin
	readonly timeZone: string
}

/** Stores a new invoice, under its number or the next one. */
export async function createInvoice(writing: Writing, blank: StoredInvoice, draft: StoredInvoice): Promise<StoredInvoice> {
	const { db, origin } = writing
	let invoice = isFirstSent(blank, draft) ? { ...draft, ...(await partiesOf(db, draft)) } : draft
	if (invoice.invoiceNumber === '') invoice = await insertNumbered(db, invoice, insertInvoice)
	else {
		await claimNumber(db, invoice)
		if (!(await insertInvoice(db, invoice))) throw numberTaken(invoice.invoiceNumber)
	}
	await moveTimeEntries(db, origin, blank, invoice, '/timeEntryIds')
	await tell(writing, invoice, ['invoice.created', ...milestones(blank, invoice)])
	return invoice
}

export interface Changed {
	readonly version: number
	/** Key of the deal's new stage, when the invoice's payment moved it. */
	readonly stageAdvanced: string | undefined
}

/** Stores the change of an invoice that was read with `lockInvoice`. `more` are events besides those of the change itself. */
export async function changeInvoice(
	writing: Writing,
	stored: StoredInvoice,
	draft: StoredInvoice,
	more: readonly EventType[] = [],
): Promise<Changed> {
	const { db, origin } = writing
	const parties = isFirstSent(stored, draft) ? await partiesOf(db, draft) : {}
	const invoice = { ...draft, ...parties, updatedAt: origin.now, version: stored.version + 1 }
	if (invoice.invoiceNumber !== stored.invoiceNumber) await claimNumber(db, invoice)
	await updateInvoice(db, invoice).catch((error) => {
		throw error instanceof UniqueViolation ? numberTaken(invoice.invoiceNumber) : error
	})
	await moveTimeEntries(db, origin, stored, invoice, '/status')
	if (amountDue(invoice) !== amountDue(stored) || invoice.currency !== stored.currency) await closePaymentLinks(db, invoice)
	const today = todayIn(writing.timeZone, origin.now)
	const changes = changesBetween(asRead(stored, today), asRead(invoice, today))
	const news = new Set([...milestones(stored, invoice), ...more])
	await tell(writing, invoice, [...(Object.keys(changes).length > 0 ? ['invoice.updated' as const] : []), ...news], changes)
	const { organizationId, dealId } = invoice
	const paid = becomes('paid', stored, invoice) && dealId !== null
	const stageAdvanced = paid ? await advanceDealOnPayment(db, organizationId, dealId, origin) : undefined
	return { version: invoice.version, stageAdvanced }
}

/** Deletes an invoice that was read with `lockInvoice`; a tombstone explains the gap in the numbers. */
export async function deleteInvoice(writing: Writing, invoice: StoredInvoice): Promise<void> {
	const { db, origin } = writing
	const { organizationId, id, invoiceNumber, totalCents, currency } = invoice
	await tell(writing, invoice, ['invoice.deleted'])
	await freeTimeEntries(db, invoice, heldEntries(invoice), origin)
	await closePaymentLinks(db, invoice)
	await removeInvoice(db, organizationId, id)
	const deletedBy = origin.actor.id ?? origin.actor.type
	const tombstone = { organizationId, invoiceId: id, invoiceNumber, totalCents, currency, deletedBy, deletedAt: origin.now }
	await insertTombstone(db, tombstone)
}

/** Writes events of an invoice as it is stored now. */
export async function tell(
	{ db, origin, timeZone }: Writing,
	{ organizationId, id }: Pick<StoredInvoice, 'organizationId' | 'id'>,
	types: readonly EventType[],
	changes?: ReturnType<typeof changesBetween>,
): Promise<void> {
	if (types.length === 0) return
	const found = await findInvoice(db, organizationId, id, todayIn(timeZone, origin.now))
	if (!found) throw new Error(`invoice ${id} is gone`)
	for (const type of types) {
		const own = type === 'invoice.updated' && changes ? { changes } : {}
		await recordEvent(db, origin, { type, organizationId, resource: 'invoice', resourceId: id, data: found.json, ...own })
	}
}

/** What a change means besides being one. */
function milestones(before: StoredInvoice, after: StoredInvoice): EventType[] {
	const reached = (['paid', 'overdue', 'cancelled'] as const).filter((status) => becomes(status, before, after))
	return [
		...(isFirstSent(before, after) ? ['invoice.sent' as const] : []),
		...reached.map((status) => `invoice.${status}` as const),
	]
}

/** Checks a caller's own number; whether a live invoice has it is for the unique index to say. */
async function claimNumber(db: Db, { organizationId, invoiceNumber }: StoredInvoice): Promise<void> {
	if (await isBuried(db, organizationId, invoiceNumber)) throw numberTaken(invoiceNumber)
	await noteNumber(db, organizationId, invoiceNumber)
}

const numberTaken = (invoiceNumber: string) =>
	fieldError('invoice_number_taken', '/invoiceNumber', `The number ${invoiceNumber} is, or was, another invoice's.`)
