// Receives the payments that a processor reports. Each is stored once, however often it is reported, and is a payment of the ledger
// whatever became of its invoice: as much of it as the invoice owes is applied, the rest is available, and its row says why.

import type { Logger } from 'pino'
import { findOrganization } from '../../accounts/doors.ts'
import type { UnappliedReason } from '../../generated/contract.ts'
import type { Origin } from '../../platform/base/origin.ts'
import { recordChange } from '../../platform/db/audit-log.ts'
import type { Database, Transaction } from '../../platform/db/database.ts'
import { type WriteContext, writingIn } from '../../platform/db/write-context.ts'
import type { Payment } from '../../platform/outside/payments/processor.ts'
import { audited } from '../invoices/events.ts'
import { amountDue, type StoredInvoice } from '../invoices/invoice.ts'
import { lockPaymentLink, setLinkStatus } from '../invoices/payment-link-store.ts'
import { lockInvoice } from '../invoices/store.ts'
import { catchUp } from '../ledger/follow.ts'
import { addPayment } from '../ledger/write.ts'
import { settle } from '../payments/settle.ts'
import { insertProcessorEvent } from './store.ts'

/** `other_server`: the payment is for an organization of another server, which shares the processor's account. */
type Outcome = 'applied' | UnappliedReason | 'duplicate' | 'other_server'

/** Stores and applies a payment, and logs its outcome. */
export async function receivePayment(
	db: Database,
	log: Logger,
	processor: string,
	payment: Payment,
	origin: Origin,
): Promise<void> {
	const outcome = await db.transaction((tx) => apply(tx, processor, payment, origin), { organizationId: payment.organizationId })
	const { organizationId, invoiceId, eventId, amountCents, currency, reference } = payment
	const entry = { processor, outcome, organizationId, invoiceId, eventId, amountCents, currency, reference }
	if (outcome === 'applied' || outcome === 'duplicate') log.info(entry, 'payment')
	else log.warn(entry, 'payment that could not be applied, or only a part of it')
}

async function apply(db: Transaction, processor: string, payment: Payment, origin: Origin): Promise<Outcome> {
	const { organizationId, invoiceId, linkId, externalId } = payment
	const organization = await findOrganization(db, organizationId)
	if (!organization) return 'other_server'
	const write = await writingIn(db, origin, organization)
	// Locks the invoice before its link, like every change of an invoice: in the opposite order two could deadlock.
	const invoice = await lockInvoice(db, organizationId, invoiceId)
	const link = await lockPaymentLink(db, organizationId, linkId)
	// Such as a link that was made after the backup which was restored: its money must not be known to a log alone.
	if (!link || link.invoiceId !== invoiceId || link.processor !== processor || link.externalId !== externalId)
		return store(write, processor, payment, { cents: 0, reason: 'unknown_link' }, invoice)
	// A page takes one payment, which the processor may report in several deliveries and several events.
	if (link.status === 'paid') return 'duplicate'
	// Before the invoice changes, which retires its other links.
	await setLinkStatus(db, link, 'paid')
	return store(write, processor, payment, judge(invoice, payment), invoice)
}

/** How much of a payment its invoice gets, and why not all of it. */
interface Judgement {
	readonly cents: number
	readonly reason: UnappliedReason | null
}

function judge(invoice: StoredInvoice | undefined, { amountCents, currency }: Payment): Judgement {
	if (!invoice) return { cents: 0, reason: 'invoice_deleted' }
	if (invoice.status === 'cancelled') return { cents: 0, reason: 'invoice_cancelled' }
	const due = amountDue(invoice)
	if (due <= 0) return { cents: 0, reason: 'already_paid' }
	if (invoice.currency !== currency) return { cents: 0, reason: 'currency_mismatch' }
	return { cents: Math.min(due, amountCents), reason: amountCents > due ? 'overpaid' : null }
}

/** Stores what was reported and the payment, notes it in the audit log of its invoice, and applies it. */
async function store(
	write: WriteContext,
	processor: string,
	payment: Payment,
	{ cents, reason }: Judgement,
	invoice: StoredInvoice | undefined,
): Promise<Outcome> {
	const { db, origin } = write
	const { organizationId, invoiceId, linkId, externalId, amountCents, currency, method, reference, paidAt } = payment
	const outcome = cents > 0 ? 'applied' : (reason ?? 'already_paid')
	if (!(await insertProcessorEvent(db, { ...payment, processor, outcome, receivedAt: origin.now }))) return 'duplicate'
	const after = { outcome, processor, paymentLinkId: linkId, amountCents, currency, method, reference }
	await recordChange(write, { ...audited({ organizationId, id: invoiceId }), action: 'payment_received', after })
	if (invoice) await catchUp(write, [invoice])
	const parts = cents > 0 ? [{ invoiceId, amountCents: cents }] : []
	const of = { organizationId, companyId: invoice?.companyId ?? null, invoiceId, processor, externalId }
	const money = { amountCents, currency, method, reference, paidAt, unappliedReason: reason }
	const arrived = await addPayment(write, { ...of, ...money, source: 'processor' }, parts)
	if (invoice) await settle(write, arrived, parts, new Map([[invoiceId, invoice]]))
	return reason ?? outcome
}
