// What processors have reported of payments, each once. The payments themselves are in the ledger (billing/ledger/store.ts).

import type { UnappliedReason } from '../../generated/contract.ts'
import { type Db, query } from '../../platform/db/database.ts'

export interface ProcessorEvent {
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
	/** `applied`, or why nothing of the payment was applied. */
	readonly outcome: 'applied' | UnappliedReason
	readonly paidAt: number
	readonly receivedAt: number
}

const insertRow = query<ProcessorEvent>((knex, row) => knex('processor_events').insert(row).onConflict().ignore())

/** Stores what was reported; false when it was stored before. */
export const insertProcessorEvent = async (db: Db, event: ProcessorEvent) => (await db.run(insertRow, event)) === 1
