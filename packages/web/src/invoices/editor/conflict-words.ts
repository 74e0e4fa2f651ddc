import type { TaxRate } from '@remit/sdk'
import { fieldName } from '../../format/names.ts'
import type { FieldConflict } from '../../forms/merge.ts'
import { type InvoiceValues, ownTaxes } from './values.ts'

const fieldWords: Readonly<Record<string, string>> = {
	companyId: 'Client',
	invoiceNumber: 'Number',
	issuedDate: 'Date of issue',
	dueDate: 'Due',
}

/** A conflict as a person reads it: `Line 2, price`, and a rate by its name. */
export function conflictWords(
	{ name, mine, theirs }: FieldConflict,
	values: InvoiceValues,
	rates: readonly TaxRate[],
	showDay: (day: string) => string,
) {
	const [, index, part] = /^lineItems\.(\d+)\.(\w+)$/.exec(name) ?? []
	const field = part ?? name
	const shown = (value: unknown): string => {
		if (typeof value !== 'string' || value === '') return '(empty)'
		if (/Date$/.test(field)) return showDay(value)
		if (field !== 'tax') return value
		const own = ownTaxes(value)
		if (own) return own.map(({ label, percent }) => `${label} ${percent} %`).join(', ')
		const rate = rates.find(({ id }) => id === value)
		return rate ? `${rate.label} ${rate.percent} %` : value === 'invoice' ? 'As the invoice' : 'No tax'
	}
	const label = fieldWords[field] ?? fieldName(field)
	const line = values.lineItems[Number(index)]?.description
	return {
		label: index === undefined ? label : `Line ${Number(index) + 1}${line ? ` (${line})` : ''}: ${label.toLowerCase()}`,
		mine: shown(mine),
		theirs: shown(theirs),
	}
}
