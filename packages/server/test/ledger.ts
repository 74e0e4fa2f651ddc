// Sums the ledger: what must be true of payments, allocations and invoices after anything.
import { expect } from 'vitest'
import { type Database, query } from '../src/platform/db/database.ts'

type Row = Record<string, number | string | null>

const rowsOf = (table: string) =>
	query<{ organizationId: string }, Row>((knex, key) => knex(table).where(key).select('*').orderBy('id'))
const [payments, allocations, invoices] = [rowsOf('payments'), rowsOf('payment_allocations'), rowsOf('invoices')]

const sum = (rows: readonly Row[]) => rows.reduce((total, { amountCents }) => total + Number(amountCents), 0)

/** Throws unless the ledger of an organization adds up. */
export async function expectBalanced(db: Database, organizationId: string): Promise<void> {
	const key = { organizationId }
	const live = (await db.all(allocations, key)).filter(({ releasedAt }) => releasedAt === null)
	const found = await db.all(payments, key)
	const open = await db.all(invoices, key)
	const byPayment = Map.groupBy(live, ({ paymentId }) => paymentId)
	const byInvoice = Map.groupBy(live, ({ invoiceId }) => invoiceId)
	const wrong: unknown[] = []
	for (const payment of found) {
		const { id, status, source } = payment
		const [amount, allocated, refunded, available] = (
			['amountCents', 'allocatedCents', 'refundedCents', 'availableCents'] as const
		).map((name) => Number(payment[name])) as [number, number, number, number]
		const isSum = status === 'reversed' ? allocated === 0 && available === 0 : allocated + refunded + available === amount
		const isFit =
			allocated === sum(byPayment.get(id as string) ?? []) && available >= 0 && (source !== 'status' || available === 0)
		if (!isSum || !isFit) wrong.push(payment)
	}
	for (const invoice of open) {
		const { id, status } = invoice
		const [total, paid] = [Number(invoice.totalCents), Number(invoice.amountPaidCents)]
		const shares = byInvoice.get(id as string) ?? []
		const isWithin = total < 0 ? paid <= 0 && paid >= total : paid >= 0 && paid <= total
		const inCurrency = shares.every(
			({ paymentId }) => found.find((payment) => payment.id === paymentId)?.currency === invoice.currency,
		)
		if (paid !== sum(shares) || !isWithin || !inCurrency || (status === 'cancelled' && paid !== 0))
			wrong.push({ invoice, shares })
	}
	const ids = new Set(open.map(({ id }) => id))
	wrong.push(...live.filter(({ invoiceId }) => !ids.has(invoiceId)))
	expect(wrong).toEqual([])
}
