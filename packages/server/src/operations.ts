// Every operation of the contract and its handler.
import type { Handlers } from './api.ts'
import * as companies from './companies/handlers.ts'
import * as invoices from './invoices/handlers.ts'

export const handlers = {
	'companies.list': companies.list,
	'companies.create': companies.create,
	'companies.get': companies.get,
	'companies.update': companies.update,
	'companies.replace': companies.update,
	'companies.delete': companies.remove,
	'invoices.list': invoices.list,
	'invoices.create': invoices.create,
	'invoices.preview': invoices.preview,
	'invoices.get': invoices.get,
	'invoices.update': invoices.update,
	'invoices.replace': invoices.update,
	'invoices.delete': invoices.remove,
} satisfies Handlers
