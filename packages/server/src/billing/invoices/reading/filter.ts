// What a list of invoices is limited to, as the database compares it: days become the instants at which they begin and end in the
// organization's time zone.
import type { DateInput, InvoiceStatus, PaymentState } from '../../../generated/contract.ts'
import type { Call } from '../../../platform/http/handler.ts'
import { beginningOf, type End, endOf, firstOf, lastOf } from '../../../platform/lists/dates.ts'
import { requireRanges } from '../../../platform/lists/filters.ts'

type Asked = Omit<
	Call<'invoices.list'>['query'],
	'limit' | 'offset' | 'cursor' | 'search' | 'sortBy' | 'sortOrder' | 'fields' | 'expand' | 'count'
>

export interface Range<T> {
	readonly from?: T | undefined
	readonly to?: T | undefined
}

export interface Filter {
	readonly organizationId: string
	readonly companyId?: string | undefined
	readonly dealId?: string | undefined
	readonly statuses?: readonly InvoiceStatus[] | undefined
	readonly paymentState?: PaymentState | undefined
	readonly isOutstanding?: boolean | undefined
	readonly isOverdue?: boolean | undefined
	readonly currency?: string | undefined
	readonly total: Range<number>
	readonly issued: Range<End>
	readonly due: Range<End>
	readonly paid: Range<End>
	readonly created: Range<number>
	readonly updatedSince?: number | undefined
}

/** The filter of a request. Throws 400 for a range whose end is before its beginning. */
export function filterOf(asked: Asked, organizationId: string, timeZone: string): Filter {
	const { companyId, dealId, status, paymentState, isOutstanding, isOverdue, currency, totalMin, totalMax, ...rest } = asked
	const { updatedSince, ...dates } = rest
	const { issuedFrom, issuedTo, dueFrom, dueTo, paidFrom, paidTo, createdFrom, createdTo, ...others } = dates
	// A query parameter that is added to the contract does not compile until it is heeded here.
	others satisfies Record<string, never>
	const days = (from?: DateInput, to?: DateInput): Range<End> => ({
		from: from === undefined ? undefined : firstOf(from, timeZone),
		to: to === undefined ? undefined : lastOf(to, timeZone),
	})
	const filter: Filter = {
		...{ organizationId, companyId, dealId, paymentState, isOutstanding, isOverdue, currency },
		statuses: status && [...new Set(status)],
		total: { from: totalMin, to: totalMax },
		issued: days(issuedFrom, issuedTo),
		due: days(dueFrom, dueTo),
		paid: days(paidFrom, paidTo),
		created: { from: beginningOf(createdFrom, timeZone), to: endOf(createdTo, timeZone) },
		updatedSince: beginningOf(updatedSince, timeZone),
	}
	rejectBackward(filter)
	return filter
}

/** Throws 400 where the end of a range lies before its beginning. */
function rejectBackward({ total, issued, due, paid, created }: Filter): void {
	const bounds = Object.entries({ issued, due, paid }).flatMap(([name, { from, to }]) => [
		[`${name}From`, from?.instant],
		[`${name}To`, to?.instant],
	])
	const given = { ...Object.fromEntries(bounds), createdFrom: created.from, createdTo: created.to }
	requireRanges({ ...given, totalMin: total.from, totalMax: total.to }, [
		['totalMin', 'totalMax'],
		['issuedFrom', 'issuedTo'],
		['dueFrom', 'dueTo'],
		['paidFrom', 'paidTo'],
		['createdFrom', 'createdTo'],
	])
}
