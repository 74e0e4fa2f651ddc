import type { Deal, TimeEntry } from '@remit/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../api/query.ts'

type Input = Omit<Parameters<typeof call<'invoices.previewFromTimeEntries'>>[1], 'dealId' | 'timeEntryIds'>

/**
 * What an invoice of time would come to. Its key has the versions of what it is made of: a new invoice takes the entries away, and to ask for
 * the same again would be refused.
 */
export function useTimePreview(deal: Deal, entries: readonly TimeEntry[], input: Input = {}) {
	const timeEntryIds = entries.slice(0, 1_000).map(({ id }) => id)
	const versions = [deal, ...entries].map(({ version }) => version)
	return useQuery({
		queryKey: ['preview of time', deal.id, timeEntryIds, versions, input],
		queryFn: ({ signal }) => call('invoices.previewFromTimeEntries', { ...input, dealId: deal.id, timeEntryIds }, { signal }),
		enabled: entries.length > 0,
		placeholderData: keepPreviousData,
		retry: false,
	})
}
