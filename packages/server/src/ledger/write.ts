// Writes the ledger, in the transaction of the change: each payment with its entry in the audit log and its events. A payment of
// source `status` is a shadow of its invoice, whose own entry and events tell of it.
import { newId } from '../base/ids.ts'
import { difference, recordChange, type Writing } from '../db/audit-log.ts'
import { changesBetween } from '../events/changes.ts'
import { recordEvent } from '../events/record.ts'
import type { EventType, Payment } from '../generated/contract.ts'
import { blanks } from '../generated/tables.ts'
import { insertAllocation, insertPayment, readPayment, releaseAllocation, type StoredPayment, updatePayment } from './store.ts'

/** An invoice, and the amount of a payment that it gets. */
export interface Part {
	readonly invoiceId: string
	readonly amountCents: number
}

type NewPayment = Pick<StoredPayment, 'organizationId' | 'currency' | 'amountCents' | 'paidAt' | 'source'> &
	Partial<Omit<StoredPayment, 'id' | 'createdAt' | 'updatedAt' | 'version'>>

const sum = (parts: readonly Part[]) => parts.reduce((total, { amountCents }) => total + amountCents, 0)

/** Stores a payment that has arrived, with what each invoice gets of it. */
export async function addPayment(write: Writing, input: NewPayment, parts: readonly Part[]): Promise<StoredPayment> {
	const { db, origin } = write
	const { now } = origin
	const allocatedCents = sum(parts)
	const payment: StoredPayment = {
		...blanks.Payment,
		status: 'succeeded',
		refundedCents: 0,
		...input,
		id: newId('pay'),
		allocatedCents,
		availableCents: input.amountCents - allocatedCents,
		createdAt: now,
		updatedAt: now,
		version: 1,
	}
	await insertPayment(db, payment)
	for (const part of parts) await allocate(write, payment, part)
	if (payment.source === 'status') return payment
	const after = await tell(write, payment, ['payment.received', ...(payment.unappliedReason ? [unapplied] : [])])
	await recordChange(write, { ...audited(payment), action: 'created', after })
	return payment
}

const unapplied = 'payment.unapplied' as const

const audited = ({ organizationId, id }: StoredPayment) => ({ organizationId, resource: 'payment', resourceId: id }) as const

const allocate = ({ db, origin }: Writing, { organizationId, id: paymentId }: StoredPayment, part: Part) =>
	insertAllocation(db, { ...part, organizationId, id: newId('alc'), paymentId, allocatedAt: origin.now })

/** Gives invoices parts of what a locked payment has left. */
export const allocateMore = (write: Writing, payment: StoredPayment, parts: readonly Part[]): Promise<StoredPayment> =>
	change(write, payment, async () => {
		for (const part of parts) await allocate(write, payment, part)
		const availableCents = payment.availableCents - sum(parts)
		const unappliedReason = availableCents === 0 ? null : payment.unappliedReason
		return { allocatedCents: payment.allocatedCents + sum(parts), availableCents, unappliedReason }
	})

/** What an invoice has of a payment, and how much of it the invoice keeps. */
export interface Release extends Part {
	readonly id: string
	readonly kept: number
}

/** Takes a locked payment off invoices: its money is available again. */
export const release = (write: Writing, payment: StoredPayment, releases: readonly Release[]): Promise<StoredPayment> =>
	change(write, payment, () => freed(write, payment, releases), [unapplied])

/** Takes a locked payment off invoices for good. */
export const reverse = (write: Writing, payment: StoredPayment, releases: readonly Release[], reversalReason: string | null) =>
	change(
		write,
		payment,
		async () => {
			await freed(write, payment, releases)
			return { status: 'reversed', reversedAt: write.origin.now, reversalReason, allocatedCents: 0, availableCents: 0 }
		},
		['payment.reversed'],
	)

/** Writes fields of a payment that no amount depends on. */
export const describe = (write: Writing, payment: StoredPayment, fields: Partial<StoredPayment>) =>
	change(write, payment, async () => fields)

async function freed(write: Writing, payment: StoredPayment, releases: readonly Release[]): Promise<Partial<StoredPayment>> {
	const { db, origin } = write
	for (const { id, kept, invoiceId } of releases) {
		await releaseAllocation(db, payment.organizationId, id, origin.now)
		if (kept !== 0) await allocate(write, payment, { invoiceId, amountCents: kept })
	}
	const cents = releases.reduce((total, { amountCents, kept }) => total + amountCents - kept, 0)
	const allocatedCents = payment.allocatedCents - cents
	if (payment.source !== 'status') return { allocatedCents, availableCents: payment.availableCents + cents }
	// A shadow has no money of its own that could be left.
	if (allocatedCents !== 0) return { amountCents: allocatedCents, allocatedCents }
	return { allocatedCents, status: 'reversed', reversedAt: origin.now }
}

/** Writes a change of a payment, unless it changes nothing. */
async function change(
	write: Writing,
	stored: StoredPayment,
	work: () => Promise<Partial<StoredPayment>>,
	more: readonly EventType[] = [],
): Promise<StoredPayment> {
	const { db, origin } = write
	const { organizationId, id } = stored
	const isTold = stored.source !== 'status'
	const before = isTold ? await read(write, stored) : undefined
	const fields = await work()
	const values = difference(stored, fields)
	if (Object.keys(values.after).length === 0) return stored
	const changed = { ...fields, updatedAt: origin.now, version: stored.version + 1 }
	await updatePayment(db, { organizationId, id }, changed)
	const payment = { ...stored, ...changed }
	if (!before) return payment
	const after = await read(write, stored)
	const changes = changesBetween(before, after)
	await recordChange(write, { ...audited(stored), action: 'updated', ...difference(before, after) })
	await tell(write, stored, ['payment.updated', ...more], changes)
	return payment
}

async function read({ db }: Writing, { organizationId, id }: StoredPayment): Promise<Payment> {
	const found = await readPayment(db, organizationId, id)
	if (!found) throw new Error(`payment ${id} is gone`)
	return JSON.parse(found.json) as Payment
}

/** Records events with the payment as it is stored now, and returns that as JSON text. */
async function tell(
	{ db, origin }: Writing,
	{ organizationId, id }: StoredPayment,
	types: readonly EventType[],
	changes?: ReturnType<typeof changesBetween>,
): Promise<string> {
	const found = await readPayment(db, organizationId, id)
	if (!found) throw new Error(`payment ${id} is gone`)
	for (const type of types) {
		const extra = type === 'payment.updated' && changes ? { changes } : {}
		await recordEvent(db, origin, { type, organizationId, resource: 'payment', resourceId: id, data: found.json, ...extra })
	}
	return found.json
}
