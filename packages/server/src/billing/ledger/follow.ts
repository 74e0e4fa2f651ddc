// The ledger follows the invoice: whatever its caller wrote, the invoice has of payments what its `amountPaidCents` says.

import type { Invoice } from '../../generated/contract.ts'
import type { WriteContext } from '../../platform/db/write-context.ts'
import { findSharesOfInvoice, lockPayments, type Share } from './store.ts'
import { addPayment, describe, type Release, release, whole } from './write.ts'

/** An invoice, as far as the ledger follows it. */
export type PaidInvoice = Pick<
	Invoice,
	| 'organizationId'
	| 'id'
	| 'companyId'
	| 'currency'
	| 'status'
	| 'amountPaidCents'
	| 'paidDate'
	| 'paymentMethod'
	| 'paymentReference'
>

const isStatus = ({ source }: Share) => source === 'status'
const total = (shares: readonly Share[]) => shares.reduce((sum, { amountCents }) => sum + amountCents, 0)

/** What is paid of an invoice by its status alone. */
export const paidByStatus = (shares: readonly Share[]) => total(shares.filter(isStatus))

/**
 * What a locked invoice has of payments, the newest first. A server of an older version, which knows no ledger, may have changed what
 * is paid: then the ledger is made to follow that first.
 */
export async function sharesOf(write: WriteContext, invoice: PaidInvoice): Promise<Share[]> {
	const { organizationId, id, amountPaidCents } = invoice
	const shares = await findSharesOfInvoice(write.db, organizationId, id)
	if (total(shares) === amountPaidCents) return shares
	await adjust(write, invoice, shares)
	return findSharesOfInvoice(write.db, organizationId, id)
}

/** Does so for locked invoices before a payment is put on them or taken off: afterwards its money could not be told from theirs. */
export async function catchUp(write: WriteContext, invoices: Iterable<PaidInvoice>): Promise<void> {
	for (const invoice of invoices) await sharesOf(write, invoice)
}

/** Makes the ledger follow a change of an invoice that had these shares. */
export async function follow(
	write: WriteContext,
	before: PaidInvoice,
	after: PaidInvoice,
	shares: readonly Share[],
): Promise<void> {
	const isOther = after.status === 'cancelled' || after.currency !== before.currency
	const isUnpaid = before.status === 'paid' && after.status !== 'paid'
	const lost = isOther ? shares : isUnpaid ? shares.filter(isStatus) : []
	await cut(write, after.organizationId, lost.map(whole))
	await adjust(
		write,
		after,
		shares.filter((share) => !lost.includes(share)),
	)
}

/** Frees the money of an invoice that is deleted. */
export async function freeAll(write: WriteContext, invoice: PaidInvoice): Promise<void> {
	await cut(write, invoice.organizationId, (await sharesOf(write, invoice)).map(whole))
}

interface Cut extends Release {
	readonly paymentId: string
}

/** Frees the newest shares as far as they are more than what is paid; what is missing was paid by the status. */
async function adjust(write: WriteContext, invoice: PaidInvoice, shares: readonly Share[]): Promise<void> {
	const { organizationId, id: invoiceId, companyId, currency, amountPaidCents } = invoice
	const sign = Math.sign(amountPaidCents)
	const cuts: Cut[] = []
	let left = amountPaidCents
	for (const share of shares.toReversed()) {
		const kept = Math.sign(share.amountCents) === sign ? sign * Math.min(Math.abs(share.amountCents), Math.abs(left)) : 0
		left -= kept
		if (kept !== share.amountCents) cuts.push({ ...share, kept })
	}
	await cut(write, organizationId, cuts)
	await describeStatus(write, invoice, shares)
	if (left === 0) return
	const { paymentMethod: method, paymentReference: reference, paidDate } = invoice
	const money = { organizationId, companyId, invoiceId, currency, amountCents: left, method, reference }
	const paidAt = paidDate ?? write.origin.now
	await addPayment(write, { ...money, paidAt, source: 'status' }, [{ invoiceId, amountCents: left }])
}

/** What a caller writes later of how an invoice was paid is said of the payment that stands for its status as well. */
async function describeStatus(write: WriteContext, invoice: PaidInvoice, shares: readonly Share[]): Promise<void> {
	const { organizationId, status, paymentMethod: method, paymentReference: reference, paidDate } = invoice
	if (status !== 'paid') return
	const differs = (share: Share) =>
		share.method !== method || share.reference !== reference || (paidDate !== null && share.paidAt !== paidDate)
	const ids = shares.filter((share) => isStatus(share) && differs(share)).map(({ paymentId }) => paymentId)
	for (const payment of await lockPayments(write.db, organizationId, ids))
		if (payment.status === 'succeeded')
			await describe(write, payment, { method, reference, ...(paidDate !== null && { paidAt: paidDate }) })
}

/** Locks the payments in the order of their ids, like every change of several. */
async function cut(write: WriteContext, organizationId: string, cuts: readonly Cut[]): Promise<void> {
	const byPayment = Map.groupBy(cuts, ({ paymentId }) => paymentId)
	for (const payment of await lockPayments(write.db, organizationId, [...byPayment.keys()]))
		await release(write, payment, byPayment.get(payment.id) ?? [])
}
