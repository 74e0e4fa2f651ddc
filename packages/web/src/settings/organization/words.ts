// The choices of the organization in words.
import type { TaxRounding, TimeRounding } from '@remit/sdk'

export const taxRoundings: readonly { readonly id: TaxRounding; readonly label: string }[] = [
	{ id: 'document', label: 'Once for the invoice' },
	{ id: 'line', label: 'For each line' },
]

export const timeRoundings: readonly { readonly id: TimeRounding; readonly label: string }[] = [
	{ id: 'none', label: 'As it was tracked' },
	{ id: 'up', label: 'Rounded up' },
	{ id: 'nearest', label: 'Rounded to the nearest' },
]

/** Steps of a rounding, with the one in use among them. */
export const minutes = (used: string): { id: string; label: string }[] =>
	[...new Set([1, 5, 6, 10, 12, 15, 20, 30, 60, Number(used)])]
		.toSorted((a, b) => a - b)
		.map((step) => ({ id: String(step), label: step === 1 ? '1 minute' : `${step} minutes` }))
