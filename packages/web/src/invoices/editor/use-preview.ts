import type { InvoicePreview } from '@remit/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { describe, fieldErrors } from '../../api/errors.ts'
import { call } from '../../api/query.ts'
import { type InvoiceValues, inputOf, isNotUnderstood } from './values.ts'

interface Preview {
	readonly data: InvoicePreview | undefined
	/** The values have changed since. */
	readonly isStale: boolean
	/** Why there is none for the values as they are. */
	readonly problem: string | undefined
}

/** What the server makes of the form, 250 ms after the last change. Nothing is computed here. */
export function usePreview(values: InvoiceValues, own: { taxRate?: number; taxLabel?: string }): Preview {
	const { currency, lineItems } = values
	const isUnderstood = lineItems.every((line) =>
		[line.quantity, line.price, line.discountPercent].every((text) => !isNotUnderstood(text)),
	)
	const text = isUnderstood
		? JSON.stringify({ ...own, ...inputOf({ currency, lineItems: lineItems.map((line) => ({ ...line, id: null })) }, currency) })
		: undefined
	const asked = useDebounced(text, 250)
	const { data, error, isPlaceholderData } = useQuery({
		queryKey: ['preview', asked],
		queryFn: ({ signal }) => call('invoices.preview', JSON.parse(asked as string), { signal }),
		enabled: asked !== undefined,
		placeholderData: keepPreviousData,
		staleTime: 60_000,
		gcTime: 30_000,
		retry: false,
	})
	const [wrong] = fieldErrors(error)
	return {
		data,
		isStale: isPlaceholderData || text !== asked || error !== null,
		problem: error === null ? undefined : wrong ? `${lineOf(wrong[0])}${wrong[1]}` : describe(error).advice,
	}
}

const lineOf = (name: string) => {
	const [, index] = /^lineItems\.(\d+)/.exec(name) ?? []
	return index === undefined ? '' : `Line ${Number(index) + 1}: `
}

/** The last value that was understood, once it has stayed for so long; the first at once. */
function useDebounced(value: string | undefined, ms: number): string | undefined {
	const [settled, setSettled] = useState(value)
	useEffect(() => {
		if (value === undefined || value === settled) return
		const timer = setTimeout(() => setSettled(value), ms)
		return () => clearTimeout(timer)
	}, [value, settled, ms])
	return settled
}
