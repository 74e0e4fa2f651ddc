// Writes the ledger, in the transaction of the change: each payment with its entry in the audit log and its events. A payment of
// source `status` is a shadow of its invoice, whose own entry and events tell of it.

import type { EventType, Payment } from '../../generated/contract.ts'
import { blanks } from '../../generated/tables.ts'
import { fieldError } from '../../platform/base/errors.ts'
import { newId } from '../../platform/base/ids.ts'
import { difference, isNothing, recordChange, type Writing } from '../../platform/db/audit-log.ts'
import { changesBetween } from '../../platform/events/changes.ts'
import { recordEvent } from '../../platform/events/record.ts'
import {
	findSharesOfPayment,
	insertAllocation,
	insertPayment,
	readPayment,
	releaseAllocation,
	type StoredPayment,
	updatePayment,
} from './store.ts'

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
	const after = await read(write, payment)
	await tell(write, payment, after, ['payment.received', ...(payment.unappliedReason ? [unapplied] : [])])
	await recordChange(write, { ...audited(payment), action: 'created', after })
	return payment
}

const unapplied = 'payment.unapplied' as const

const audited = ({ organizationId, id }: StoredPayment) => ({ organizationId, resource: 'payment', resourceId: id }) as const

/** What an invoice has of a payment from now on, in place of the allocations that end: their rows stay, so that any past day can be summed. */
async function allocate(
	{ db, origin }: Writing,
	{ organizationId, id: paymentId }: StoredPayment,
	{ invoiceId, amountCents }: Part,
	ended: readonly { readonly id: string }[] = [],
): Promise<void> {
	for (const { id } of ended) await releaseAllocation(db, organizationId, id, origin.now)
	if (amountCents === 0) return
	const row = { organizationId, id: newId('alc'), paymentId, invoiceId, amountCents, allocatedAt: origin.now }
	await insertAllocation(db, row)
}

/** Every event of a payment has all its allocations. */
const maxAllocations = 500

/** Gives invoices parts of what a locked payment has left. An invoice that has some of it already has one allocation still. */
export const allocateMore = (write: Writing, payment: StoredPayment, parts: readonly Part[]): Promise<StoredPayment> =>
	change(write, payment, async () => {
		const shares = await findSharesOfPayment(write.db, payment.organizationId, payment.id)
		const held = Map.groupBy(shares, ({ invoiceId }) => invoiceId)
		const invoices = new Set([...held.keys(), ...parts.map(({ invoiceId }) => invoiceId)])
		if (invoices.size > maxAllocations) throw tooMany(invoices.size)
		for (const { invoiceId, amountCents } of parts) {
			const has = held.get(invoiceId) ?? []
			await allocate(write, payment, { invoiceId, amountCents: sum(has) + amountCents }, has)
		}
		const availableCents = payment.availableCents - sum(parts)
		const unappliedReason = availableCents === 0 ? null : payment.unappliedReason
		return { allocatedCents: payment.allocatedCents + sum(parts), availableCents, unappliedReason }
	})

const tooMany = (count: number) =>
	fieldError('too_many_allocations', '/allocations', `The payment would be on ${count} invoices; it may be on ${maxAllocations}.`)

/** What an invoice has of a payment, and how much of it the invoice keeps. */
export interface Release extends Part {
	readonly id: string
	readonly kept: number
}

/** The invoice keeps nothing of it. */
export const whole = <S extends Part>(share: S) => ({ ...share, kept: 0 })

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
	for (const share of releases) await allocate(write, payment, { invoiceId: share.invoiceId, amountCents: share.kept }, [share])
	const cents = releases.reduce((total, { amountCents, kept }) => total + amountCents - kept, 0)
	const allocatedCents = payment.allocatedCents - cents
	if (payment.source !== 'status') return { allocatedCents, availableCents: payment.availableCents + cents }
	// A shadow has no money of its own that could be left.
	if (allocatedCents !== 0) return { amountCents: allocatedCents, allocatedCents }
	return { allocatedCents, status: 'reversed', reversedAt: write.origin.now }
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
	const before = stored.source === 'status' ? undefined : parsed(await read(write, stored))
	const fields = await work()
	const values = difference(stored, fields)
	if (isNothing(values)) return stored
	const changed = { ...fields, updatedAt: origin.now, version: stored.version + 1 }
	await updatePayment(db, { organizationId, id }, changed)
	const payment = { ...stored, ...changed }
	if (!before) return payment
	const data = await read(write, stored)
	const after = parsed(data)
	await recordChange(write, { ...audited(stored), action: 'updated', ...difference(before, after) })
	await tell(write, stored, data, ['payment.updated', ...more], changesBetween(before, after))
	return payment
}

/** The payment as it is stored now, as JSON text. */
async function read({ db }: Writing, { organizationId, id }: StoredPayment): Promise<string> {
	const found = await readPayment(db, organizationId, id)
	if (!found) throw new Error(`payment ${id} is gone`)
	return found.json
}

const parsed = (json: string) => JSON.parse(json) as Payment

/** Records events with the payment as it is stored now. */
async function tell(
	{ db, origin }: Writing,
	{ organizationId, id }: StoredPayment,
	data: string,
	types: readonly EventType[],
	changes?: ReturnType<typeof changesBetween>,
): Promise<void> {
	for (const type of types) {
		const extra = type === 'payment.updated' && changes ? { changes } : {}
		await recordEvent(db, origin, { type, organizationId, resource: 'payment', resourceId: id, data, ...extra })
	}
}
