// The invoice of the events: sent, with three lines. queue.ts adds its buyer.
import type { InvoiceInput } from '../../server/src/generated/contract.ts'

const taxes = [{ label: 'VAT', percent: '19' }]

export const writtenInvoice: InvoiceInput = {
	status: 'sent',
	currency: 'EUR',
	paymentTerms: '30 days net',
	lineItems: [
		{ description: 'Discovery workshop', quantity: '2', unit: 'day', unitPriceCents: 118_000, taxes },
		{ description: 'Interface audit', quantity: '14.5', unit: 'hour', unitPriceCents: 11_000, taxes },
		{ description: 'Travel', quantity: '1', unitPriceCents: 32_450, taxes },
	],
}
