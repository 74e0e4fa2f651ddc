import type { Invoice, InvoiceInput, LineItem, LineItemInput } from '@remit/sdk'

/** What a new draft takes over of an invoice: not its dates, its number and what happened to it. */
export const copyOf = ({ companyId, dealId, currency, taxRate, taxLabel, ...invoice }: Invoice): InvoiceInput => ({
	companyId,
	dealId,
	currency,
	taxRate,
	taxLabel,
	notes: invoice.notes,
	paymentTerms: invoice.paymentTerms,
	lineItems: invoice.lineItems.map(lineOf),
})

/** Time that an invoice charges is charged once: in the copy it is what any line is. An archived rate lives on as the line's own tax. */
const lineOf = ({ kind, description, quantity, unit, unitPriceCents, taxes, ...line }: LineItem): LineItemInput => ({
	kind: kind === 'time' ? 'item' : kind,
	description,
	quantity,
	unit,
	unitPriceCents,
	discountPercent: line.discountPercent,
	discountCents: line.discountCents,
	taxes,
})
