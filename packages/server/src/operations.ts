// Every operation of the contract and its handler.

import * as apiKeys from './api-keys/handlers.ts'
import * as audit from './audit/handlers.ts'
import * as companies from './companies/handlers.ts'
import * as contacts from './contacts/handlers.ts'
import * as deals from './deals/handlers.ts'
import * as pipelines from './deals/pipeline-handlers.ts'
import * as events from './events/handlers.ts'
import type { Handlers } from './http/handler.ts'
import * as invoices from './invoices/handlers.ts'
import * as paymentCredentials from './invoices/payments/credentials-handlers.ts'
import * as paymentLinks from './invoices/payments/handlers.ts'
import * as sharing from './invoices/sharing/handlers.ts'
import * as organizations from './organizations/handlers.ts'
import * as taxRates from './tax-rates/handlers.ts'
import * as timeEntries from './time-entries/handlers.ts'
import * as deliveries from './webhooks/delivery-handlers.ts'
import * as endpoints from './webhooks/endpoint-handlers.ts'

export const handlers = {
	'apiKeys.list': apiKeys.list,
	'apiKeys.create': apiKeys.create,
	'apiKeys.delete': apiKeys.remove,
	'apiKeys.rotate': apiKeys.rotate,
	'audit.list': audit.list,
	'companies.list': companies.list,
	'companies.create': companies.create,
	'companies.get': companies.get,
	'companies.update': companies.update,
	'companies.replace': companies.update,
	'companies.delete': companies.remove,
	'companies.history': companies.history,
	'contacts.list': contacts.list,
	'contacts.create': contacts.create,
	'contacts.get': contacts.get,
	'contacts.update': contacts.update,
	'contacts.replace': contacts.update,
	'contacts.delete': contacts.remove,
	'contacts.history': contacts.history,
	'deals.list': deals.list,
	'deals.create': deals.create,
	'deals.get': deals.get,
	'deals.update': deals.update,
	'deals.replace': deals.update,
	'deals.delete': deals.remove,
	'deals.history': deals.history,
	'invoices.list': invoices.list,
	'invoices.create': invoices.create,
	'invoices.createFromTimeEntries': invoices.createFromTimeEntries,
	'invoices.preview': invoices.preview,
	'invoices.get': invoices.get,
	'invoices.update': invoices.update,
	'invoices.replace': invoices.update,
	'invoices.delete': invoices.remove,
	'invoices.history': invoices.history,
	'invoices.send': sharing.send,
	'invoices.sendStatus': sharing.sendStatus,
	'invoices.emails.list': sharing.listEmails,
	'invoices.pdf': sharing.pdf,
	'invoices.clientLink.create': sharing.createClientLink,
	'invoices.clientLink.get': sharing.getClientLink,
	'invoices.clientLink.delete': sharing.deleteClientLink,
	'invoices.paymentLink.create': paymentLinks.create,
	'invoices.paymentLink.get': paymentLinks.get,
	'invoices.public.get': sharing.viewPublic,
	'invoices.public.pdf': sharing.viewPublicPdf,
	'organization.get': organizations.get,
	'organization.usage.get': organizations.usage,
	'organization.update': organizations.update,
	'organization.replace': organizations.update,
	'organization.paymentCredentials.get': paymentCredentials.get,
	'organization.paymentCredentials.replace': paymentCredentials.replace,
	'organization.paymentCredentials.delete': paymentCredentials.remove,
	'pipelines.list': pipelines.list,
	'pipelines.create': pipelines.create,
	'pipelines.get': pipelines.get,
	'pipelines.update': pipelines.update,
	'pipelines.replace': pipelines.update,
	'pipelines.delete': pipelines.remove,
	'pipelines.history': pipelines.history,
	'taxRates.list': taxRates.list,
	'taxRates.create': taxRates.create,
	'taxRates.get': taxRates.get,
	'taxRates.update': taxRates.update,
	'taxRates.replace': taxRates.update,
	'taxRates.delete': taxRates.remove,
	'taxRates.history': taxRates.history,
	'timeEntries.list': timeEntries.list,
	'timeEntries.create': timeEntries.create,
	'timeEntries.get': timeEntries.get,
	'timeEntries.update': timeEntries.update,
	'timeEntries.replace': timeEntries.update,
	'timeEntries.delete': timeEntries.remove,
	'timeEntries.history': timeEntries.history,
	'webhooks.eventTypes.list': events.listTypes,
	'webhooks.endpoints.list': endpoints.list,
	'webhooks.endpoints.create': endpoints.create,
	'webhooks.endpoints.get': endpoints.get,
	'webhooks.endpoints.update': endpoints.update,
	'webhooks.endpoints.delete': endpoints.remove,
	'webhooks.endpoints.stats': endpoints.stats,
	'webhooks.endpoints.rotateSecret': endpoints.rotateSecret,
	'webhooks.endpoints.test': endpoints.test,
	'webhooks.endpoints.redeliver': endpoints.redeliver,
	'webhooks.deliveries.list': deliveries.list,
	'webhooks.deliveries.get': deliveries.get,
	'webhooks.deliveries.redeliver': deliveries.redeliver,
	'webhooks.events.list': events.list,
	'webhooks.events.get': events.get,
} satisfies Handlers
