import { randomInt } from 'node:crypto'
import type { Knex } from 'knex'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const newId = (prefix: string) => `${prefix}_${Array.from({ length: 20 }, () => alphabet[randomInt(62)]).join('')}`

/** Payments and what invoices have of them. What processors reported becomes `processor_events`, and each row of it a payment. */
export async function up(knex: Knex): Promise<void> {
	const sqlite = knex.client.config.client === 'better-sqlite3'
	// The second sort key of lists, by bytes on both databases.
	const sorted = sqlite ? 'text' : 'text collate "C"'
	await knex.schema.renameTable('payments', 'processor_events')
	if (!sqlite) await knex.raw('alter table processor_events rename constraint payments_pkey to processor_events_pkey')
	await knex.schema.createTable('payments', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', sorted).notNullable()
		table.text('companyId')
		// No foreign key: a payment outlives its invoice.
		table.text('invoiceId')
		table.text('currency').notNullable()
		table.bigInteger('amountCents').notNullable()
		table.text('method')
		table.text('reference')
		table.bigInteger('paidAt').notNullable()
		table.text('source').notNullable()
		table.text('status').notNullable()
		table.text('processor')
		table.text('externalId')
		table.bigInteger('allocatedCents').notNullable()
		table.bigInteger('refundedCents').notNullable().defaultTo(0)
		table.bigInteger('availableCents').notNullable()
		table.text('unappliedReason')
		table.text('notes')
		table.json('metadata')
		table.bigInteger('reversedAt')
		table.text('reversalReason')
		table.bigInteger('createdAt').notNullable()
		table.bigInteger('updatedAt').notNullable()
		table.integer('version').notNullable()
		table.primary(['organizationId', 'id'])
		table.unique(['organizationId', 'processor', 'externalId'], { indexName: 'payments_processor_external' })
		table.index(['organizationId', 'createdAt', 'id'], 'payments_by_creation')
		table.index(['organizationId', 'companyId', 'createdAt', 'id'], 'payments_by_company')
		table.index(['organizationId', 'source', 'createdAt', 'id'], 'payments_by_source')
		table.index(['organizationId', 'status', 'createdAt', 'id'], 'payments_by_status')
		table.index(['organizationId', 'invoiceId'], 'payments_by_invoice')
	})
	await knex.schema.createTable('payment_allocations', (table) => {
		table.text('organizationId').notNullable().references('organizationId').inTable('organizations')
		table.specificType('id', sorted).notNullable()
		table.text('paymentId').notNullable()
		table.text('invoiceId').notNullable()
		table.bigInteger('amountCents').notNullable()
		table.bigInteger('allocatedAt').notNullable()
		// When the invoice lost it: the row stays, so that any past day can be summed.
		table.bigInteger('releasedAt')
		table.primary(['organizationId', 'id'])
		table.index(['organizationId', 'invoiceId'], 'payment_allocations_by_invoice')
		table.index(['organizationId', 'paymentId'], 'payment_allocations_by_payment')
	})
	await moveProcessorEvents(knex)
	await payByStatus(knex, sqlite)
	// Last, since PostgreSQL lets nobody read invoices from here to the commit.
	await knex.schema.alterTable('invoices', (table) => {
		table.bigInteger('amountCreditedCents').notNullable().defaultTo(0)
		// Whether a payment, and not a caller, gave it the status `paid`.
		table.boolean('paidByPayment').notNullable().defaultTo(false)
	})
}

interface Row {
	readonly organizationId: string
	readonly processor: string
	readonly eventId: string
	readonly externalId: string | null
	readonly invoiceId: string
	readonly amountCents: number | string
	readonly currency: string
	readonly method: string
	readonly reference: string
	readonly outcome: string
	readonly paidAt: number | string
	readonly receivedAt: number | string
	readonly companyId: string | null
	readonly amountPaidCents: number | string | null
	readonly invoiceCurrency: string | null
}

const part = 100

/** Each reported payment, with what its invoice has of it: what the invoice has as paid, the first payments first. */
async function moveProcessorEvents(knex: Knex): Promise<void> {
	const rows: Row[] = await knex('processor_events as e')
		.leftJoin('invoices as i', (on) => on.on('i.organizationId', 'e.organizationId').andOn('i.id', 'e.invoiceId'))
		.select('e.*', 'i.companyId', 'i.amountPaidCents', { invoiceCurrency: 'i.currency' })
		.orderBy(['e.organizationId', 'e.invoiceId', 'e.receivedAt', 'e.eventId'])
	const payments: object[] = []
	const allocations: object[] = []
	const used = new Map<string, number>()
	for (const row of rows) {
		const { organizationId, processor, externalId, invoiceId, companyId, currency, method, reference, outcome } = row
		const [amountCents, receivedAt] = [Number(row.amountCents), Number(row.receivedAt)]
		const of = `${organizationId} ${invoiceId}`
		const open = Number(row.amountPaidCents ?? 0) - (used.get(of) ?? 0)
		const isApplied = outcome === 'applied' && row.invoiceCurrency === currency
		const allocatedCents = isApplied ? Math.max(0, Math.min(open, amountCents)) : 0
		const id = newId('pay')
		if (allocatedCents > 0) {
			used.set(of, (used.get(of) ?? 0) + allocatedCents)
			const what = { id: newId('alc'), paymentId: id, invoiceId, amountCents: allocatedCents }
			allocations.push({ organizationId, ...what, allocatedAt: receivedAt, releasedAt: null })
		}
		payments.push({
			...{ organizationId, id, companyId, invoiceId, currency, amountCents, method, reference, processor, externalId },
			...{ paidAt: row.paidAt, source: 'processor', status: 'succeeded', allocatedCents },
			availableCents: amountCents - allocatedCents,
			unappliedReason: outcome === 'applied' ? null : outcome,
			...{ createdAt: receivedAt, updatedAt: receivedAt, version: 1 },
		})
	}
	for (let at = 0; at < payments.length; at += part) await knex('payments').insert(payments.slice(at, at + part))
	for (let at = 0; at < allocations.length; at += part) await knex('payment_allocations').insert(allocations.slice(at, at + part))
}

/** What invoices have as paid besides: callers gave them the status. */
async function payByStatus(knex: Knex, sqlite: boolean): Promise<void> {
	const rest = `i."amountPaidCents" - coalesce((select sum(a."amountCents") from payment_allocations a
		where a."organizationId" = i."organizationId" and a."invoiceId" = i.id), 0)`
	const json = sqlite ? 'null' : 'null::json'
	const id = (prefix: string) => `'${prefix}_' || substr(i.id, 5)`
	await knex.raw(`insert into payments ("organizationId", id, "companyId", "invoiceId", currency, "amountCents", method, reference,
			"paidAt", source, status, "allocatedCents", "availableCents", metadata, "createdAt", "updatedAt", version)
		select i."organizationId", ${id('pay')}, i."companyId", i.id, i.currency, ${rest}, i."paymentMethod", i."paymentReference",
			coalesce(i."paidDate", i."updatedAt"), 'status', 'succeeded', ${rest}, 0, ${json}, i."updatedAt", i."updatedAt", 1
		from invoices i where i."amountPaidCents" <> 0 and ${rest} <> 0`)
	await knex.raw(`insert into payment_allocations ("organizationId", id, "paymentId", "invoiceId", "amountCents", "allocatedAt")
		select p."organizationId", 'alc_' || substr(p.id, 5), p.id, p."invoiceId", p."amountCents", p."createdAt"
		from payments p where p.source = 'status'`)
}
