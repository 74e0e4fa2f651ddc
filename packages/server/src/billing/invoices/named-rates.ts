// The saved tax rates that lines name.

import type { InvoiceInput, TaxRate } from '../../generated/contract.ts'
import { fieldError } from '../../platform/base/errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { taxRates } from '../tax-rates/store.ts'
import type { StoredInvoice } from './invoice.ts'

/** The rates that lines newly name, by id. A line may keep the rate that it has, archived or not. */
export async function findNamedRates(
	db: Db,
	organizationId: string,
	{ lineItems = [] }: InvoiceInput,
	before: StoredInvoice,
): Promise<ReadonlyMap<string, TaxRate>> {
	const kept = new Map(before.lineItems.map((line) => [line.id, line.taxRateId]))
	const rates = new Map<string, TaxRate>()
	for (const [index, { id, taxRateId }] of lineItems.entries()) {
		if (!taxRateId || rates.has(taxRateId) || (id !== undefined && kept.get(id) === taxRateId)) continue
		rates.set(taxRateId, await requireUsableRate(db, organizationId, taxRateId, `/lineItems/${index}/taxRateId`))
	}
	return rates
}

/** The rate, locked until the transaction ends, so that nobody changes it while the invoice is computed with it. */
export async function requireUsableRate(db: Db, organizationId: string, id: string, pointer: string): Promise<TaxRate> {
	const rate = await taxRates.lock(db, organizationId, id)
	if (!rate) throw fieldError('unknown_tax_rate', pointer, `There is no tax rate ${id}.`)
	if (!rate.active) throw fieldError('tax_rate_archived', pointer, `The tax rate ${id} is archived.`)
	return rate
}
