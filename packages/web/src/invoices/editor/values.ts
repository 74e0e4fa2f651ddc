// An invoice as it is in the form, and back. A price is decimal text of the currency's unit, such as `12.50`: what a person typed stays
// when the currency changes. A number that was not understood is the text behind a `?`, so that it is neither lost nor sent.
import type { ExpandedInvoice, InvoiceInput, LineItem, LineItemInput, LineTax, TaxRate } from '@remit/sdk'
import { dayOf } from '../../format/dates.ts'
import { majorOf, minorOf } from '../../format/price.ts'

export interface LineValues {
	/** Null for a new line. */
	readonly id: string | null
	readonly kind: LineItem['kind']
	readonly description: string
	readonly quantity: string
	readonly unit: string | null
	readonly price: string
	readonly discountPercent: string
	/** `invoice` for the invoice's own, `none`, the id of a saved rate, or the line's own taxes as JSON. */
	readonly tax: string
}

export type InvoiceValues = {
	companyId: string | null
	/** Empty: the server gives one. */
	invoiceNumber: string
	issuedDate: string | null
	dueDate: string | null
	currency: string
	lineItems: LineValues[]
	notes: string | null
	paymentTerms: string | null
}

export const isNotUnderstood = (value: string): boolean => value.startsWith('?')

export const blankLine = (tax: string, kind: LineValues['kind'] = 'item'): LineValues => ({
	id: null,
	kind,
	description: '',
	quantity: '1',
	unit: null,
	price: '0',
	discountPercent: '',
	tax,
})

export const isBlank = ({ id, description, price }: LineValues): boolean =>
	id === null && description === '' && Number(price) === 0

/** The lines that are sent: not those on which nothing was written. */
export const written = (lines: readonly LineValues[]): LineValues[] => lines.filter((line) => !isBlank(line))

/** The tax that a new line has: the saved rate that is offered first. */
export const usualTax = (rates: readonly TaxRate[]): string =>
	rates.find(({ isDefault, active }) => isDefault && active)?.id ?? 'none'

export const valuesOf = (invoice: ExpandedInvoice, timeZone: string): InvoiceValues => ({
	companyId: invoice.companyId,
	invoiceNumber: invoice.invoiceNumber,
	issuedDate: invoice.issuedDate === null ? null : dayOf(invoice.issuedDate, timeZone),
	dueDate: invoice.dueDate === null ? null : dayOf(invoice.dueDate, timeZone),
	currency: invoice.currency,
	lineItems: invoice.lineItems.map((line) => lineValues(line, invoice.currency)),
	notes: invoice.notes,
	paymentTerms: invoice.paymentTerms,
})

const lineValues = ({ id, kind, description, quantity, unit, ...line }: LineItem, currency: string): LineValues => ({
	id,
	kind,
	description,
	quantity,
	unit,
	price: majorOf(String(line.unitPriceCents), currency),
	discountPercent: line.discountPercent ?? '',
	tax: taxOf(line),
})

const taxOf = ({ taxRateId, taxes }: Pick<LineItem, 'taxRateId' | 'taxes'>): string =>
	taxRateId ?? (taxes === null ? 'invoice' : taxes.length === 0 ? 'none' : JSON.stringify(taxes))

/** The line's own taxes, when `tax` is these. */
export const ownTaxes = (tax: string): LineTax[] | undefined => (tax.startsWith('[') ? JSON.parse(tax) : undefined)

/** The body of a create or, of changed fields, of an update. `base` has the lines as the server has them. */
export function inputOf(changed: Partial<InvoiceValues>, currency: string, base: readonly LineValues[] = []): InvoiceInput {
	const { lineItems, invoiceNumber, ...fields } = changed
	const isRepriced = changed.currency !== undefined
	return {
		...(fields as Omit<InvoiceInput, 'lineItems'>),
		...(invoiceNumber && { invoiceNumber }),
		...(lineItems && {
			lineItems: lineItems.map((line) => {
				const before = base.find(({ id }) => id !== null && id === line.id)
				return lineInput(line, currency, isRepriced ? undefined : before)
			}),
		}),
	}
}

/** Of a stored line what changed, so that what the form does not show stays, such as the seconds that it charges. */
function lineInput(line: LineValues, currency: string, before: LineValues | undefined): LineItemInput {
	const changed = (name: keyof LineValues) => before?.[name] !== line[name]
	return {
		...(line.id !== null && { id: line.id }),
		...(changed('kind') && { kind: line.kind }),
		...(changed('description') && { description: line.description }),
		...(changed('quantity') && { quantity: line.quantity }),
		...(changed('unit') && { unit: line.unit }),
		...(changed('price') && { unitPriceCents: minorOf(line.price, currency) }),
		...(changed('discountPercent') && { discountPercent: line.discountPercent || null }),
		...(changed('tax') && taxInput(line.tax)),
	}
}

function taxInput(tax: string): Pick<LineItemInput, 'taxes' | 'taxRateId'> {
	if (tax === 'invoice') return { taxes: null }
	if (tax === 'none') return { taxes: [] }
	const own = ownTaxes(tax)
	return own ? { taxes: own } : { taxRateId: tax }
}
