import { randomInt } from 'node:crypto'
import type { Knex } from 'knex'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const newId = (prefix: string) => `${prefix}_${Array.from({ length: 20 }, () => alphabet[randomInt(62)]).join('')}`

/** What an invoice has of a payment is one allocation. Those that ended are many, and nothing that is answered reads them. */
export async function up(knex: Knex): Promise<void> {
	const key = ['organizationId', 'paymentId', 'invoiceId']
	const several = await knex('payment_allocations')
		.whereNull('releasedAt')
		.groupBy(key)
		.having(knex.raw('count(*) > 1'))
		.select(key)
		.sum({ amountCents: 'amountCents' })
		.max({ allocatedAt: 'allocatedAt' })
	for (const { amountCents, allocatedAt, ...of } of several) {
		await knex('payment_allocations').where(of).whereNull('releasedAt').update({ releasedAt: allocatedAt })
		if (Number(amountCents) !== 0) await knex('payment_allocations').insert({ ...of, id: newId('alc'), amountCents, allocatedAt })
	}
	for (const [name, column] of [
		['payment_allocations_by_invoice', 'invoiceId'],
		['payment_allocations_by_payment', 'paymentId'],
	]) {
		await knex.raw(`drop index ${name}`)
		await knex.raw(`create index ${name} on payment_allocations ("organizationId", "${column}") where "releasedAt" is null`)
	}
}
