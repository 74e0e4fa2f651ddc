// The doors to the ledger: a payment that arrives, is put on invoices or taken off them, or is reversed. An invoice on which nothing
// is due any more gets the status `paid` through its own door. Locks go from the invoices, by their ids, to the payments.

import type { AllocationInput, PaymentCreate, PaymentUpdate } from '../../generated/contract.ts'
import { dayMs, endOfDay, todayIn, toMs } from '../../platform/base/dates.ts'
import { ApiError, fieldError } from '../../platform/base/errors.ts'
import { difference } from '../../platform/db/audit-log.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { companies } from '../companies/store.ts'
import { amountDue, type StoredInvoice, whyNothing } from '../invoices/invoice.ts'
import type { Share, StoredPayment } from '../ledger/store.ts'
import { addPayment, allocateMore, describe, type Part, release, reverse, whole } from '../ledger/write.ts'
import { type Invoices, lockInvoices, lockReal, lockWithInvoices, notManual, requirePayment } from './locks.ts'
import { settle, unsettle } from './settle.ts'

/** Records a payment of which a caller knows. */
export async function createPayment(write: WriteContext, input: PaymentCreate): Promise<StoredPayment> {
	const { db, origin, organization } = write
	const { allocations = [], invoiceId, paidAt, amountCents, metadata, ...plain } = input
	const pointer = invoiceId === undefined ? '/allocations' : '/invoiceId'
	if (invoiceId !== undefined && allocations.length > 0)
		throw fieldError('invalid_payment', '/allocations', 'Name the invoices in `invoiceId` or in `allocations`, not in both.')
	const asked = invoiceId === undefined ? merged(allocations) : [{ invoiceId, amountCents: 0 }]
	const invoices = await lockInvoices(write, asked, pointer)
	const [first] = invoices.values()
	const currency = input.currency ?? first?.currency ?? organization.defaultCurrency
	const companyId = input.companyId ?? first?.companyId ?? null
	if (input.companyId) await companies.require(db, organization.id, input.companyId, '/companyId')
	const parts = asked.map((part) => (invoiceId && first ? { invoiceId, amountCents: owedOf(first, amountCents) } : part))
	requireFit(parts, invoices, { currency, availableCents: amountCents }, pointer)
	const of = { organizationId: organization.id, companyId, invoiceId: invoices.size === 1 ? (first?.id ?? null) : null }
	const when = paidAt === undefined ? origin.now : toMs(paidAt)
	// Tomorrow is today elsewhere.
	if (when >= endOfDay(organization.timeZone, todayIn(organization.timeZone, origin.now).date + dayMs))
		throw fieldError('invalid_payment', '/paidAt', '`paidAt` is after today: record a payment once it has come.')
	const money = { amountCents, currency, paidAt: when, source: 'manual' as const, metadata: metadata ?? null }
	const payment = await addPayment(write, { ...plain, ...of, ...money }, parts)
	await settle(write, payment, parts, invoices)
	return payment
}

/** As much of a payment as the invoice owes; throws when that is nothing. */
function owedOf(invoice: StoredInvoice, amountCents: number): number {
	const due = amountDue(invoice)
	if (due > 0) return Math.min(due, amountCents)
	throw fieldError(
		'nothing_to_pay',
		'/invoiceId',
		`Nothing is owed on the invoice ${invoice.invoiceNumber}: ${whyNothing(invoice)}.`,
	)
}

/** Puts what a payment has left on invoices. */
export async function allocatePayment(write: WriteContext, id: string, asked: readonly AllocationInput[]): Promise<void> {
	const parts = merged(asked)
	await requirePayment(write, id)
	const invoices = await lockInvoices(write, parts, '/allocations')
	const payment = await lockReal(write, id)
	requireFit(parts, invoices, payment, '/allocations')
	await settle(write, await allocateMore(write, payment, parts), parts, invoices)
}

/** Takes a payment off its invoices, or off one of them. */
export async function releasePayment(write: WriteContext, id: string, invoiceId?: string): Promise<void> {
	const { payment, shares, invoices } = await lockWithInvoices(write, id, invoiceId)
	if (shares.length === 0 && invoiceId !== undefined)
		throw new ApiError('allocation_not_found', `The invoice ${invoiceId} has nothing of the payment ${id}.`)
	if (shares.length === 0) return
	await release(write, payment, shares.map(whole))
	await unsettleAll(write, invoices, shares)
}

/** Reverses a payment that a caller recorded, and leaves one that is reversed as it is. */
export async function reversePayment(write: WriteContext, id: string, reason: string | null): Promise<void> {
	const { payment, shares, invoices } = await lockWithInvoices(write, id)
	if (payment.status === 'reversed') return
	if (payment.source === 'processor') throw notManual(payment, 'a processor reported it, and has the money')
	await reverse(write, payment, shares.map(whole), reason)
	await unsettleAll(write, invoices, shares)
}

async function unsettleAll(write: WriteContext, invoices: Invoices, taken: readonly Share[]): Promise<void> {
	for (const [of, lost] of Map.groupBy(taken, (share) => share.invoiceId)) await unsettle(write, invoices.get(of), lost)
}

/** Changes a locked payment. */
export function changePayment(write: WriteContext, payment: StoredPayment, input: PaymentUpdate): Promise<StoredPayment> {
	const { method, reference } = difference(payment, input).after
	if (payment.source !== 'manual' && (method !== undefined || reference !== undefined))
		throw notManual(payment, 'its method and reference are those of its invoice, or of the processor')
	return describe(write, payment, input)
}

/** One part an invoice, however often a request names it. */
function merged(parts: readonly AllocationInput[]): Part[] {
	const byInvoice = Map.groupBy(parts, ({ invoiceId }) => invoiceId)
	return [...byInvoice].map(([invoiceId, of]) => ({
		invoiceId,
		amountCents: of.reduce((sum, part) => sum + part.amountCents, 0),
	}))
}

/** Throws unless each invoice owes its part, in the payment's currency, and the payment has that much. */
function requireFit(
	parts: readonly Part[],
	invoices: Invoices,
	{ currency, availableCents }: Pick<StoredPayment, 'currency' | 'availableCents'>,
	pointer: string,
): void {
	for (const { invoiceId, amountCents } of parts) {
		const invoice = invoices.get(invoiceId) as StoredInvoice
		const { invoiceNumber } = invoice
		if (invoice.currency !== currency) {
			const detail = `The invoice ${invoiceNumber} is in ${invoice.currency}, the payment in ${currency}.`
			throw fieldError('currency_mismatch', pointer, detail)
		}
		const due = Math.max(0, amountDue(invoice))
		if (amountCents > due) {
			const detail = `The invoice ${invoiceNumber} owes ${due} in minor units, and would get ${amountCents}.`
			throw fieldError('allocation_too_large', pointer, detail)
		}
	}
	const asked = parts.reduce((sum, { amountCents }) => sum + amountCents, 0)
	if (asked <= availableCents) return
	const detail = `The payment has ${availableCents} left in minor units, and its invoices would get ${asked}.`
	throw fieldError('allocation_too_large', pointer, detail)
}
