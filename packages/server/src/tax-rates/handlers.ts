import type { Handler } from '../http/handler.ts'
import { recordHandlers } from '../http/record-handlers.ts'
import { archiveTaxRate, changeTaxRate, createTaxRate, taxRates } from './store.ts'

const handlers = recordHandlers(taxRates, '/api/tax-rates', {
	create: createTaxRate,
	change: changeTaxRate,
	remove: archiveTaxRate,
})

export const list: Handler<'taxRates.list'> = handlers.list

export const get: Handler<'taxRates.get'> = handlers.get

export const create: Handler<'taxRates.create'> = handlers.create

export const update: Handler<'taxRates.update'> = handlers.update

/** Archives: what invoices were computed with stays readable. */
export const remove: Handler<'taxRates.delete'> = handlers.remove
