// Invoice numbers: `INV-` and at least four digits. Each organization has one counter, which advances in the transaction that
// stores the invoice, so that no number is lost or given twice. The number of a deleted invoice is never used again.
import { type Db, query } from '../db/database.ts'

const increment = query<{ organizationId: string }, { nextInvoiceNumber: number }>((knex, { organizationId }) =>
	knex('organizations')
		.where({ organizationId })
		.update({ nextInvoiceNumber: knex.raw('?? + 1', ['nextInvoiceNumber']) })
		.returning('nextInvoiceNumber'),
)

/** A caller's number does not advance the counter to this or beyond: a JavaScript number could no longer hold it exactly. */
const maxCounter = 9_000_000_000_000_000

/** Stores a new invoice under the organization's next number that is free. */
export async function insertNumbered<I extends { organizationId: string }>(
	db: Db,
	invoice: I,
	insert: (db: Db, invoice: I & { invoiceNumber: string }) => Promise<boolean>,
): Promise<I & { invoiceNumber: string }> {
	for (;;) {
		const row = await db.get(increment, { organizationId: invoice.organizationId })
		if (!row) throw new Error(`organization ${invoice.organizationId} is gone`)
		const number = row.nextInvoiceNumber - 1
		const invoiceNumber = `INV-${String(number).padStart(4, '0')}`
		// Only numbers that did not advance the counter can be ahead of it; one of those may be retired.
		if (number >= maxCounter && (await isNumberRetired(db, invoice.organizationId, invoiceNumber))) continue
		const numbered = { ...invoice, invoiceNumber }
		if (await insert(db, numbered)) return numbered
	}
}

const raise = query<{ organizationId: string; next: number }>((knex, { organizationId, next }) =>
	knex('organizations').where({ organizationId }).where('nextInvoiceNumber', '<', next).update({ nextInvoiceNumber: next }),
)

/** Advances the counter past a caller's own number that has the form of a generated one. */
export async function advanceCounter(db: Db, organizationId: string, invoiceNumber: string): Promise<void> {
	const number = Number(/^INV-(\d+)$/.exec(invoiceNumber)?.[1] ?? 0)
	if (number > 0 && number < maxCounter) await db.run(raise, { organizationId, next: number + 1 })
}

interface NumberKey {
	readonly organizationId: string
	readonly invoiceNumber: string
}

const byNumber = query<NumberKey, { invoiceId: string }>((knex, key) =>
	knex('invoice_tombstones').where(key).select('invoiceId').limit(1, { skipBinding: true }),
)

/** Whether a deleted invoice had this number. */
export const isNumberRetired = async (db: Db, organizationId: string, invoiceNumber: string) =>
	(await db.get(byNumber, { organizationId, invoiceNumber })) !== undefined

interface Tombstone extends NumberKey {
	readonly invoiceId: string
	readonly totalCents: number
	readonly currency: string
	readonly deletedBy: string
	readonly deletedAt: number
}

const insertion = query<Tombstone>((knex, row) => knex('invoice_tombstones').insert(row))

/** Stores a tombstone, which explains the gap in the numbers. */
export const insertTombstone = (db: Db, tombstone: Tombstone) => db.run(insertion, tombstone)
