import { InvoiceInput } from '../../generated/fields.ts'
import { type InvoiceValues, isNotUnderstood, type LineValues, written } from './values.ts'

const { notes, paymentTerms } = InvoiceInput
export const rules = { notes, paymentTerms }

/** The numbers that were not understood, before anything is sent. */
export const check = ({ lineItems }: InvoiceValues): [string, string][] =>
	lineItems.flatMap((line, index) =>
		(['quantity', 'price', 'discountPercent'] as const satisfies readonly (keyof LineValues)[]).flatMap((name) =>
			isNotUnderstood(line[name])
				? [[`lineItems.${index}.${name}`, `“${line[name].slice(1)}” is no number`] as [string, string]]
				: [],
		),
	)

/** `lineItems.0.unitPriceCents` of what was sent is `lineItems.1.price` in the form, when the first line there is blank. */
export const nameOf = (name: string, lines: readonly LineValues[]): string =>
	name
		.replace(/^(lineItems\.)(\d+)/, (place, list, index) => {
			const line = written(lines)[index]
			return line ? `${list}${lines.indexOf(line)}` : place
		})
		.replace(/^(lineItems\.\d+\.)unitPriceCents$/, '$1price')
		.replace(/^(lineItems\.\d+\.)discountCents$/, '$1discountPercent')
		.replace(/^(lineItems\.\d+\.)(taxRateId|taxes.*)$/, '$1tax')
