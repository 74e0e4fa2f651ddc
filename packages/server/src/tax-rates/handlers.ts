import type { Handler } from '../http/handler.ts'
import { answersOf, removed } from '../http/record-handlers.ts'
import { insertTaxRate, taxRates, updateTaxRate } from './store.ts'

const answers = answersOf(taxRates, { name: 'tax rate', notFound: 'tax_rate_not_found', path: '/api/tax-rates' })

export const list: Handler<'taxRates.list'> = answers.list

export const get: Handler<'taxRates.get'> = answers.get

export const create: Handler<'taxRates.create'> = async ({ body, caller }, { db, now }) =>
	answers.created(await insertTaxRate(db, caller.organizationId, body, now))

export const update: Handler<'taxRates.update'> = async (call, { db, now }) =>
	answers.changed(await updateTaxRate(db, await answers.lock(call, db), call.body, now))

/** Archives: what invoices were computed with stays readable. */
export const remove: Handler<'taxRates.delete'> = async (call, { db, now }) => {
	const rate = await answers.lock(call, db)
	if (rate.active) await taxRates.update(db, rate, { active: false, isDefault: false }, now)
	return removed
}
