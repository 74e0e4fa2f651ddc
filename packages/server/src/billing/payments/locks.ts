// Locks of the ledger: first the invoices, by their ids, then the payment.
import { ApiError, fieldError } from '../../platform/base/errors.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import type { StoredInvoice } from '../invoices/invoice.ts'
import { lockInvoice } from '../invoices/store.ts'
import { catchUp } from '../ledger/follow.ts'
import { findSharesOfPayment, lockPayments, readPayment, type StoredPayment } from '../ledger/store.ts'

/** Locked invoices by id. */
export type Invoices = ReadonlyMap<string, StoredInvoice>

/** Each change of an invoice writes all its line items, and an event with them: other changes wait for so many. */
const maxLineItems = 10_000

/** Locks invoices in the order of their ids, besides those that are locked; throws when they are too large to be changed together. */
async function lockMore(
	{ db, organization }: WriteContext,
	locked: Map<string, StoredInvoice>,
	parts: readonly { readonly invoiceId: string }[],
	tooLarge: () => ApiError,
): Promise<void> {
	let lineItems = 0
	for (const invoice of locked.values()) lineItems += invoice.lineItems.length
	for (const id of new Set(parts.map(({ invoiceId }) => invoiceId).sort())) {
		const invoice = locked.has(id) ? undefined : await lockInvoice(db, organization.id, id)
		if (!invoice) continue
		lineItems += invoice.lineItems.length
		if (lineItems > maxLineItems) throw tooLarge()
		locked.set(id, invoice)
	}
}

const tooManyLines = `The invoices have more than ${maxLineItems} line items together`

/** The invoices, in the order of the request; throws when one is not there, or when they are too large to be changed together. */
export async function lockInvoices(
	write: WriteContext,
	parts: readonly { readonly invoiceId: string }[],
	pointer: string,
): Promise<Invoices> {
	const locked = new Map<string, StoredInvoice>()
	const detail = `${tooManyLines}: allocate the payment to some of them in each request.`
	await lockMore(write, locked, parts, () => fieldError('too_many_allocations', pointer, detail))
	const unknown = parts.find(({ invoiceId }) => !locked.has(invoiceId))
	if (unknown) throw fieldError('unknown_invoice', pointer, `There is no invoice ${unknown.invoiceId}.`)
	await catchUp(write, locked.values())
	return new Map(parts.map(({ invoiceId }) => [invoiceId, locked.get(invoiceId) as StoredInvoice]))
}

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

/** A payment with what its invoices have of it, or one of them, and these invoices; throws when they are too large to be changed together. */
export async function lockWithInvoices(write: WriteContext, id: string, invoiceId?: string) {
	const { db, organization } = write
	await requirePayment(write, id)
	const invoices = new Map<string, StoredInvoice>()
	const tooLarge = () =>
		new ApiError('too_many_allocations', `${tooManyLines}: take the payment off one after the other, by \`?invoiceId=\`.`)
	const find = async () => {
		const shares = await findSharesOfPayment(db, organization.id, id)
		return invoiceId === undefined ? shares : shares.filter((share) => share.invoiceId === invoiceId)
	}
	await lockMore(write, invoices, await find(), tooLarge)
	await catchUp(write, invoices.values())
	const payment = await lockReal(write, id)
	const shares = await find()
	// Those that it got since it was looked at. Two that do so at once may deadlock, and one of them then runs again.
	await lockMore(write, invoices, shares, tooLarge)
	return { payment, shares, invoices }
}
