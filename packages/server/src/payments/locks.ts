// Locks of the ledger: first the invoices, by their ids, then the payment.
import { ApiError, fieldError } from '../base/errors.ts'
import type { WriteContext } from '../db/write-context.ts'
import type { StoredInvoice } from '../invoices/invoice.ts'
import { lockInvoice } from '../invoices/store.ts'
import { catchUp } from '../ledger/follow.ts'
import { findSharesOfPayment, lockPayments, readPayment, type Share, type StoredPayment } from '../ledger/store.ts'

/** Locked invoices by id. */
export type Invoices = ReadonlyMap<string, StoredInvoice>

/** Each change of an invoice writes all its line items, and an event with them: other changes wait for so many. */
const maxLineItems = 5_000

/** The invoices, in the order of the request; throws when one is not there, or when they are too large to be changed together. */
export async function lockInvoices(
	write: WriteContext,
	parts: readonly { readonly invoiceId: string }[],
	pointer: string,
): Promise<Invoices> {
	const { db, organization } = write
	const locked = new Map<string, StoredInvoice>()
	let lineItems = 0
	for (const id of parts.map(({ invoiceId }) => invoiceId).sort()) {
		const invoice = await lockInvoice(db, organization.id, id)
		if (!invoice) throw fieldError('unknown_invoice', pointer, `There is no invoice ${id}.`)
		lineItems += invoice.lineItems.length
		if (lineItems > maxLineItems) throw tooLarge(pointer)
		locked.set(id, invoice)
	}
	await catchUp(write, locked.values())
	return new Map(parts.map(({ invoiceId }) => [invoiceId, locked.get(invoiceId) as StoredInvoice]))
}

const tooLarge = (pointer: string) =>
	fieldError(
		'too_many_allocations',
		pointer,
		`The invoices have more than ${maxLineItems} line items together: allocate the payment to some of them in each request.`,
	)

export const paymentNotFound = (id: string) => new ApiError('payment_not_found', `There is no payment ${id}.`)

export async function requirePayment({ db, organization }: WriteContext, id: string): Promise<void> {
	if (!(await readPayment(db, organization.id, id))) throw paymentNotFound(id)
}

/** A payment that is more than the shadow of a status. */
export async function lockReal({ db, organization }: WriteContext, id: string): Promise<StoredPayment> {
	const [payment] = await lockPayments(db, organization.id, [id])
	if (!payment) throw paymentNotFound(id)
	if (payment.source === 'status') throw notManual(payment, 'it stands for the status of its invoice: change that')
	return payment
}

export const notManual = ({ id }: StoredPayment, why: string) =>
	new ApiError('payment_not_manual', `The payment ${id} cannot be changed so: ${why}.`)

/** A payment with what its invoices have of it, and these invoices. */
export async function lockWithInvoices(write: WriteContext, id: string) {
	const { db, organization } = write
	await requirePayment(write, id)
	const invoices = new Map<string, StoredInvoice>()
	const lock = async (shares: readonly Share[]) => {
		for (const of of [...new Set(shares.map(({ invoiceId }) => invoiceId))].sort()) {
			const invoice = invoices.has(of) ? undefined : await lockInvoice(db, organization.id, of)
			if (invoice) invoices.set(of, invoice)
		}
	}
	await lock(await findSharesOfPayment(db, organization.id, id))
	await catchUp(write, invoices.values())
	const payment = await lockReal(write, id)
	const shares = await findSharesOfPayment(db, organization.id, id)
	// Those that it got since it was looked at. Two that do so at once may deadlock, and one of them then runs again.
	await lock(shares)
	return { payment, shares, invoices }
}
