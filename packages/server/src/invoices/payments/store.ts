// The payments that processors have reported, each once, whether applied or not.
import { type Db, query } from '../../db/database.ts'

export interface PaymentRow {
	readonly organizationId: string
	readonly processor: string
	readonly eventId: string
	readonly linkId: string
	/** The id of the page at the processor, which takes one payment. Null in rows of older versions whose link is gone. */
	readonly externalId: string | null
	readonly invoiceId: string
	readonly amountCents: number
	readonly currency: string
	readonly method: string
	readonly reference: string
	/** `applied`, or why the payment was not applied. */
	readonly outcome: 'applied' | 'already_paid' | 'amount_mismatch' | 'invoice_cancelled' | 'invoice_deleted' | 'unknown_link'
	readonly paidAt: number
	readonly receivedAt: number
}

const insertRow = query<PaymentRow>((knex, row) => knex('payments').insert(row).onConflict().ignore())

/** Stores the payment; false when it was stored before. */
export const insertPayment = async (db: Db, payment: PaymentRow) => (await db.run(insertRow, payment)) === 1
