import { type Handler, writeContext } from '../http/handler.ts'
import { recordHandlers, removed } from '../http/record-handlers.ts'
import { archiveTaxRate, changeTaxRate, createTaxRate, taxRates } from './store.ts'

const handlers = recordHandlers(taxRates, '/api/tax-rates')

export const list: Handler<'taxRates.list'> = handlers.list

export const get: Handler<'taxRates.get'> = handlers.get

export const create: Handler<'taxRates.create'> = async ({ body, caller }, context) =>
	handlers.created(await createTaxRate(writeContext(context, caller), body))

export const update: Handler<'taxRates.update'> = async (call, context) => {
	const stored = await handlers.lock(call, context.db)
	return handlers.changed(await changeTaxRate(writeContext(context, call.caller), stored, call.body))
}

/** Archives: what invoices were computed with stays readable. */
export const remove: Handler<'taxRates.delete'> = async (call, context) => {
	await archiveTaxRate(writeContext(context, call.caller), await handlers.lock(call, context.db))
	return removed
}
