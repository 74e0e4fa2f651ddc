import { historyHandler } from '../../platform/audit/history.ts'
import { recordHandlers } from '../../platform/http/record-handlers.ts'
import { archiveTaxRate, changeTaxRate, createTaxRate, taxRates } from './store.ts'

export const { list, get, create, update, remove } = recordHandlers(taxRates, '/api/tax-rates', {
	create: createTaxRate,
	change: changeTaxRate,
	/** What invoices were computed with stays readable. */
	remove: archiveTaxRate,
})

export const history = historyHandler(taxRates)
