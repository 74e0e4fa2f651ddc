// Invoice numbers: `INV-` and a number of at least four digits, from one counter for each organization that advances in the
// transaction of the invoice, so that no number is lost or given twice. Numbers are never used again.
import { type Db, query } from '../db/database.ts'

const take = query<{ organizationId: string }, { nextInvoiceNumber: number }>((knex, { organizationId }) =>
	knex('organizations')
		.where({ organizationId })
		.update({ nextInvoiceNumber: knex.raw('?? + 1', ['nextInvoiceNumber']) })
		.returning('nextInvoiceNumber'),
)

/** The counter is not pushed to here or beyond, where it could pass what a number can hold exactly. */
const maxCounter = 9_000_000_000_000_000

/** Stores a new invoice under the organization's next number that is free. */
export async function insertNumbered<I extends { organizationId: string }>(
	db: Db,
	invoice: I,
	insert: (db: Db, invoice: I & { invoiceNumber: string }) => Promise<boolean>,
): Promise<I & { invoiceNumber: string }> {
	for (;;) {
		const row = await db.get(take, { organizationId: invoice.organizationId })
		if (!row) throw new Error(`organization ${invoice.organizationId} is gone`)
		const number = row.nextInvoiceNumber - 1
		const invoiceNumber = `INV-${String(number).padStart(4, '0')}`
		// Only numbers that did not push the counter can stand in its way.
		if (number >= maxCounter && (await isNumberRetired(db, invoice.organizationId, invoiceNumber))) continue
		const numbered = { ...invoice, invoiceNumber }
		if (await insert(db, numbered)) return numbered
	}
}

const pushTo = query<{ organizationId: string; next: number }>((knex, { organizationId, next }) =>
	knex('organizations').where({ organizationId }).where('nextInvoiceNumber', '<', next).update({ nextInvoiceNumber: next }),
)

/** A caller's own number that reads like one of ours pushes the counter past it. */
export async function advanceCounter(db: Db, organizationId: string, invoiceNumber: string): Promise<void> {
	const number = Number(/^INV-(\d+)$/.exec(invoiceNumber)?.[1] ?? 0)
	if (number > 0 && number < maxCounter) await db.run(pushTo, { organizationId, next: number + 1 })
}

interface NumberKey {
	readonly organizationId: string
	readonly invoiceNumber: string
}

const buried = query<NumberKey, { invoiceId: string }>((knex, key) =>
	knex('invoice_tombstones').where(key).select('invoiceId').limit(1, { skipBinding: true }),
)

/** Whether a deleted invoice had this number. */
export const isNumberRetired = async (db: Db, organizationId: string, invoiceNumber: string) =>
	(await db.get(buried, { organizationId, invoiceNumber })) !== undefined

interface Tombstone extends NumberKey {
	readonly invoiceId: string
	readonly totalCents: number
	readonly currency: string
	readonly deletedBy: string
	readonly deletedAt: number
}

const bury = query<Tombstone>((knex, row) => knex('invoice_tombstones').insert(row))

/** Leaves a tombstone, so that a gap in the numbers can be explained. */
export const insertTombstone = (db: Db, tombstone: Tombstone) => db.run(bury, tombstone)
