// Receives the payments that a processor reports. Each is stored once, however often it is reported, and applied only when it
// is exactly what is owed on the invoice. A payment that cannot be applied is stored too: its row says why, and the log warns.
import type { Logger } from 'pino'
import type { Origin } from '../../base/origin.ts'
import { recordChange } from '../../db/audit-log.ts'
import type { Database, Db } from '../../db/database.ts'
import { findOrganization } from '../../organizations/store.ts'
import type { Payment } from '../../outside/payments/processor.ts'
import { audited } from '../events.ts'
import { amountDue, type StoredInvoice } from '../invoice.ts'
import { lockPaymentLink, setLinkStatus } from '../payment-link-store.ts'
import { lockInvoice } from '../store.ts'
import { changeInvoice } from '../write.ts'
import { insertPayment, type PaymentRow } from './store.ts'

/** `other_server`: the payment is for an organization of another server, which shares the processor's account. */
type Outcome = PaymentRow['outcome'] | 'duplicate' | 'other_server'

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
	else log.warn(entry, 'payment that could not be applied')
}

async function apply(db: Db, processor: string, payment: Payment, origin: Origin): Promise<Outcome> {
	const { organizationId, invoiceId, linkId, externalId } = payment
	const organization = await findOrganization(db, organizationId)
	if (!organization) return 'other_server'
	const row = { ...payment, processor, receivedAt: origin.now }
	// Locks the invoice before its link, like every change of an invoice: in the opposite order two could deadlock.
	const invoice = await lockInvoice(db, organizationId, invoiceId)
	const link = await lockPaymentLink(db, organizationId, linkId)
	if (!link || link.invoiceId !== invoiceId || link.processor !== processor || link.externalId !== externalId) {
		// Such as a link that was made after the backup which was restored: its money must not be known to a log alone.
		return (await store(db, origin, { ...row, outcome: 'unknown_link' })) ? 'unknown_link' : 'duplicate'
	}
	// A page takes one payment, which the processor may report in several deliveries and several events.
	if (link.status === 'paid') return 'duplicate'
	const outcome = classify(invoice, payment)
	await store(db, origin, { ...row, outcome })
	await setLinkStatus(db, link, 'paid')
	if (outcome !== 'applied' || !invoice) return outcome
	const input = {
		status: 'paid' as const,
		paidDate: payment.paidAt,
		paymentMethod: payment.method,
		paymentReference: payment.reference,
	}
	await changeInvoice({ db, origin, organization }, invoice, input)
	return outcome
}

/** Stores a payment and notes it in the audit log of its invoice; false when it is stored already. */
async function store(db: Db, origin: Origin, payment: PaymentRow): Promise<boolean> {
	if (!(await insertPayment(db, payment))) return false
	const {
		organizationId,
		invoiceId: id,
		linkId: paymentLinkId,
		processor,
		outcome,
		amountCents,
		currency,
		method,
		reference,
	} = payment
	const after = { outcome, processor, paymentLinkId, amountCents, currency, method, reference }
	await recordChange({ db, origin }, { ...audited({ organizationId, id }), action: 'payment_received', after })
	return true
}

function classify(invoice: StoredInvoice | undefined, { amountCents, currency }: Payment): PaymentRow['outcome'] {
	if (!invoice) return 'invoice_deleted'
	if (invoice.status === 'paid') return 'already_paid'
	if (invoice.status === 'cancelled') return 'invoice_cancelled'
	return amountDue(invoice) === amountCents && invoice.currency === currency ? 'applied' : 'amount_mismatch'
}
