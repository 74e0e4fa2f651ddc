// An invoice holds the time entries that its lines charge, unless it is cancelled. An entry is on one invoice at most, and
// cannot change while an invoice holds it.

import type { ErrorCode, ProblemError, TimeEntry } from '../../generated/contract.ts'
import { type ApiError, listedError } from '../../platform/base/errors.ts'
import type { Db } from '../../platform/db/database.ts'
import type { OrderedOrigin } from '../../platform/db/write-context.ts'
import { claimTimeEntries, freeTimeEntries, lockTimeEntries } from '../time-entries/store.ts'
import type { StoredInvoice } from './invoice.ts'
import { chargedSeconds } from './pricing/time-lines.ts'

export const heldEntries = ({ status, lineItems }: StoredInvoice) =>
	status === 'cancelled' ? [] : lineItems.flatMap(({ timeEntryIds }) => timeEntryIds)

/**
 * Frees the entries that the change removes (their lines are gone, or the invoice is now cancelled) and claims those that it
 * adds (the invoice is new, or no longer cancelled). `pointer` is the field of the request that asks for them; `locked` are the
 * entries that it adds, where this transaction has locked them before.
 */
export async function moveTimeEntries(
	db: Db,
	origin: OrderedOrigin,
	before: StoredInvoice,
	after: StoredInvoice,
	pointer: string,
	locked?: readonly TimeEntry[],
): Promise<void> {
	const [heldBefore, heldAfter] = [new Set(heldEntries(before)), new Set(heldEntries(after))]
	const freed = [...heldBefore].filter((id) => !heldAfter.has(id))
	const claimed = [...heldAfter].filter((id) => !heldBefore.has(id))
	await freeTimeEntries(db, after, freed, origin)
	if (claimed.length === 0) return
	await claim(db, origin, after, locked ?? (await lockTimeEntries(db, after.organizationId, claimed)), claimed, pointer)
}

async function claim(
	db: Db,
	origin: OrderedOrigin,
	invoice: StoredInvoice,
	entries: readonly TimeEntry[],
	ids: readonly string[],
	pointer: string,
): Promise<void> {
	const unfit = [...missing(ids, entries), ...running(entries), ...changed(invoice, entries)]
	if (unfit.length > 0) throw claimError('invalid_time_entries', 'These time entries cannot be invoiced', unfit, pointer)
	if (await claimTimeEntries(db, invoice.id, entries, origin)) return
	throw alreadyInvoiced(entries, pointer)
}

/** Throws when one of the entries is on an invoice. */
export function requireUnclaimed(entries: readonly TimeEntry[]): void {
	if (invoiced(entries).length > 0) throw alreadyInvoiced(entries, '/timeEntryIds')
}

const alreadyInvoiced = (entries: readonly TimeEntry[], pointer: string) =>
	claimError('time_entry_already_invoiced', 'A time entry can be on one invoice', invoiced(entries), pointer)

type Reason = Pick<ProblemError, 'code' | 'detail'>

// While the invoice was cancelled, its entries could be changed, deleted and invoiced like any other.

function missing(ids: readonly string[], entries: readonly TimeEntry[]): Reason[] {
	const found = new Set(entries.map(({ id }) => id))
	return ids.filter((id) => !found.has(id)).map((id) => ({ code: 'unknown', detail: `${id} was deleted` }))
}

const running = (entries: readonly TimeEntry[]): Reason[] =>
	entries
		.filter(({ durationSeconds }) => durationSeconds === null)
		.map(({ id }) => ({ code: 'running', detail: `${id} is running again` }))

/** A line charges the seconds of its entries unless a caller wrote its quantity: then it has no `durationSeconds`. */
function changed({ lineItems, ...invoice }: StoredInvoice, entries: readonly TimeEntry[]): Reason[] {
	const rounded = (seconds: number | null) => seconds && chargedSeconds(seconds, invoice)
	const secondsOf = new Map(entries.map(({ id, durationSeconds }) => [id, rounded(durationSeconds)]))
	return lineItems.flatMap(({ position, durationSeconds, timeEntryIds }) => {
		const seconds = timeEntryIds.map((id) => secondsOf.get(id) ?? null)
		// `missing` and `running` name these entries.
		if (typeof durationSeconds !== 'number' || seconds.includes(null)) return []
		const total = seconds.reduce<number>((sum, value) => sum + (value as number), 0)
		if (total === durationSeconds) return []
		return [
			{ code: 'changed', detail: `line ${position} charges ${durationSeconds} s, but its time entries now have ${total} s` },
		]
	})
}

const invoiced = (entries: readonly TimeEntry[]): Reason[] =>
	entries
		.filter(({ status }) => status === 'invoiced')
		.map(({ id, invoiceId }) => ({ code: 'time_entry_already_invoiced', detail: `${id} is on the invoice ${invoiceId}` }))

function claimError(code: ErrorCode, what: string, reasons: readonly Reason[], pointer: string): ApiError {
	return listedError(
		code,
		what,
		reasons.map((reason) => ({ pointer, ...reason })),
	)
}
