// What this context gives to the app: operations, work without a request, what an erasure finds.

import type { Part } from '../platform/part.ts'
import { jobKinds } from '../platform/work/kinds.ts'
import { every } from '../platform/work/loop.ts'
import * as companies from './companies/handlers.ts'
import * as contacts from './contacts/handlers.ts'
import * as deals from './deals/handlers.ts'
import * as pipelines from './deals/pipeline-handlers.ts'
import { erasable } from './erasable.ts'
import * as invoices from './invoices/handlers.ts'
import * as invoiceNumbers from './invoices/numbers/handlers.ts'
import { markAllOverdue } from './invoices/overdue.ts'
import { concludeLostMails } from './invoices/sharing/conclude.ts'
import * as sharing from './invoices/sharing/handlers.ts'
import { closeLink } from './payment-links/closing.ts'
import * as paymentCredentials from './payment-links/credentials-handlers.ts'
import * as paymentLinks from './payment-links/handlers.ts'
import * as payments from './payments/handlers.ts'
import * as reports from './reports/handlers.ts'
import * as search from './search/hits/handlers.ts'
import { renewSearchTexts } from './search/hits/renew-store.ts'
import * as taxRates from './tax-rates/handlers.ts'
import * as timeEntries from './time-entries/handlers.ts'

export const billing = {
	operations: {
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
		'invoices.previewFromTimeEntries': invoices.previewFromTimeEntries,
		'invoices.get': invoices.get,
		'invoices.update': invoices.update,
		'invoices.replace': invoices.update,
		'invoices.delete': invoices.remove,
		'invoices.history': invoices.history,
		'invoices.send': sharing.send,
		'invoices.sendStatus': sharing.sendStatus,
		'invoices.emails.list': sharing.listEmails,
		'invoices.document': sharing.document,
		'invoices.pdf': sharing.pdf,
		'invoices.clientLink.create': sharing.createClientLink,
		'invoices.clientLink.get': sharing.getClientLink,
		'invoices.clientLink.delete': sharing.deleteClientLink,
		'invoices.paymentLink.create': paymentLinks.create,
		'invoices.paymentLink.get': paymentLinks.get,
		'invoices.public.get': sharing.viewPublic,
		'invoices.public.pdf': sharing.viewPublicPdf,
		'numberGaps.list': invoiceNumbers.listGaps,
		'organization.nextInvoiceNumber.get': invoiceNumbers.getNext,
		'organization.nextInvoiceNumber.replace': invoiceNumbers.replaceNext,
		'organization.paymentCredentials.get': paymentCredentials.get,
		'organization.paymentCredentials.replace': paymentCredentials.replace,
		'organization.paymentCredentials.delete': paymentCredentials.remove,
		'payments.list': payments.list,
		'payments.create': payments.create,
		'payments.get': payments.get,
		'payments.update': payments.update,
		'payments.replace': payments.update,
		'payments.reverse': payments.reverse,
		'payments.allocate': payments.allocate,
		'payments.release': payments.release,
		'payments.history': payments.history,
		'pipelines.list': pipelines.list,
		'pipelines.create': pipelines.create,
		'pipelines.get': pipelines.get,
		'pipelines.update': pipelines.update,
		'pipelines.replace': pipelines.update,
		'pipelines.delete': pipelines.remove,
		'pipelines.history': pipelines.history,
		'reports.summary': reports.summary,
		'search.list': search.list,
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
	},
	jobs: ({ db, services }) => ({
		[jobKinds.overdue]: markAllOverdue(db),
		[jobKinds.closeLink]: closeLink(db, services.payments),
		[jobKinds.searchTexts]: renewSearchTexts(db),
	}),
	loops: ({ db, now, log }) => [every(10_000, () => concludeLostMails(db, now), log)],
	erasable,
} satisfies Part
