// The payments that processors have reported, each once, whether applied or not.
import { type Db, query } from '../../db/database.ts'

export interface PaymentRow {
	readonly organizationId: string
	readonly processor: string
	readonly eventId: string
	readonly linkId: string
	readonly invoiceId: string
	readonly amountCents: number
	readonly currency: string
	readonly method: string
	readonly reference: string
	/** `applied`, or why the payment was not applied. */
	readonly outcome: 'applied' | 'already_paid' | 'amount_mismatch' | 'invoice_cancelled' | 'invoice_deleted'
	readonly paidAt: number
	readonly receivedAt: number
}

const insertRow = query<PaymentRow>((knex, row) => knex('payments').insert(row))

export const insertPayment = (db: Db, payment: PaymentRow) => db.run(insertRow, payment)
