// Where personal data may be in the tables of this context (app/erase/tables.ts).
import type { ErasableTables } from '../platform/db/erasable.ts'

export const erasable: ErasableTables = {
	documents: { key: ['id'], plain: ['invoiceId', 'contentHash', 'sha256'] },
	client_links: { key: ['invoiceId'], plain: ['nonce', 'tokenHash', 'sealedToken'] },
	processor_events: {
		key: ['processor', 'eventId'],
		plain: ['linkId', 'invoiceId', 'currency', 'method', 'reference', 'outcome', 'externalId'],
	},
	payment_allocations: { key: ['id'], plain: ['paymentId', 'invoiceId'] },
	payments: {
		key: ['id'],
		text: ['reference?', 'notes?', 'reversalReason?'],
		json: ['metadata'],
		plain: ['companyId', 'invoiceId', 'currency', 'method', 'source', 'status', 'processor', 'externalId', 'unappliedReason'],
	},
	payment_links: { key: ['id'], plain: ['invoiceId', 'processor', 'externalId', 'url', 'currency', 'status'] },
	payment_credentials: { key: [], plain: ['processor', 'sealed', 'secretKeyLastFour', 'webhookSecretLastFour'] },
	time_entries: {
		key: ['id'],
		text: ['taskName?', 'deliverableName?', 'description?'],
		plain: ['dealId', 'userId', 'taskId', 'deliverableId', 'status', 'invoiceId', 'searchText'],
	},
	number_series: { key: ['series'] },
	number_skips: { key: ['id'], plain: ['series', 'reason', 'invoiceId', 'skippedBy'] },
	invoice_tombstones: { key: ['invoiceId'], plain: ['invoiceNumber', 'currency', 'deletedBy'] },
	invoices: {
		key: ['id'],
		text: ['notes?', 'paymentTerms?', 'paymentReference?'],
		json: ['lineItems', 'billTo', 'billFrom', 'taxBreakdown'],
		plain: [
			'dealId',
			'companyId',
			'invoiceNumber',
			'searchText',
			'status',
			'statusBeforePayment',
			'paymentMethod',
			'taxLabel',
			'currency',
			'taxRounding',
			'timeRounding',
			'language',
			'branding',
			'locale',
			'timeZone',
		],
		keep: 'issued',
	},
	deals: {
		key: ['id'],
		text: ['name'],
		contact: ['contactId'],
		plain: ['companyId', 'pipelineId', 'stage', 'currency', 'contactId', 'searchText'],
	},
	contacts: { key: ['id'], text: ['name', 'email?', 'phone?'], contact: ['id'], plain: ['companyId', 'searchText'] },
	companies: {
		key: ['id'],
		text: ['phone?', 'notes?', 'billingContactName?', 'billingEmail?', 'taxId?', 'vatId?'],
		plain: [
			...['name', 'domain', 'sortName', 'searchText'],
			...[
				'language',
				'billingAddressLine1',
				'billingAddressLine2',
				'billingCity',
				'billingState',
				'billingPostalCode',
				'billingCountry',
			],
		],
	},
	pipelines: { key: ['id'], json: ['stages'], plain: ['name'] },
	// Follows the `searchText` of the records, which an erasure makes anew.
	search_words: { key: ['kind', 'word', 'place', 'id'] },
	// After the companies that it counts.
	record_counts: { key: ['kind', 'part'] },
	// After the invoices and payments that it sums.
	report_sums: { key: ['currency', 'figure', 'at', 'part'] },
	tax_rates: { key: ['id'], plain: ['name', 'label', 'percent'] },
}
