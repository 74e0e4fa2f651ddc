// What a list of invoices is limited to, as the database compares it: days become the instants at which they begin and end in the
// organization's time zone.
import { calendarDay, dayMs, endOfDay, startOfDay, toMs } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { DateInput, InvoiceStatus, PaymentState, ProblemError } from '../../generated/contract.ts'
import type { Call } from '../../http/handler.ts'

type Asked = Omit<
	Call<'invoices.list'>['query'],
	'limit' | 'offset' | 'cursor' | 'search' | 'sortBy' | 'sortOrder' | 'fields' | 'expand' | 'count'
>

/** An end of a range of dates, for dates that are days and for those that are instants. */
export interface End {
	readonly day: number
	readonly instant: number
}

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
	const { companyId, dealId, status, paymentState, isOverdue, currency, totalMin, totalMax, updatedSince, ...dates } = asked
	const { issuedFrom, issuedTo, dueFrom, dueTo, paidFrom, paidTo, createdFrom, createdTo, ...others } = dates
	// A query parameter that is added to the contract does not compile until it is heeded here.
	others satisfies Record<string, never>
	const days = (from?: DateInput, to?: DateInput): Range<End> => ({
		from: from === undefined ? undefined : firstOf(from, timeZone),
		to: to === undefined ? undefined : lastOf(to, timeZone),
	})
	const filter: Filter = {
		...{ organizationId, companyId, dealId, paymentState, isOverdue, currency },
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

/** A number that is a day is one here: answers show days so. */
function firstOf(value: DateInput, timeZone: string): End {
	const ms = toMs(value)
	if (ms % dayMs === 0) return { day: ms, instant: startOfDay(timeZone, ms) }
	return { day: calendarDay(timeZone, ms), instant: ms }
}

function lastOf(value: DateInput, timeZone: string): End {
	const ms = toMs(value)
	if (ms % dayMs === 0) return { day: ms, instant: endOfDay(timeZone, ms) - 1 }
	return { day: calendarDay(timeZone, ms), instant: ms }
}

/** Times that are always instants are compared with a day only where it is written as one. */
const isDay = (value: DateInput) => typeof value === 'string' && value.length === 10

function beginningOf(value: DateInput | undefined, timeZone: string): number | undefined {
	if (value === undefined) return undefined
	return isDay(value) ? startOfDay(timeZone, toMs(value)) : toMs(value)
}

function endOf(value: DateInput | undefined, timeZone: string): number | undefined {
	if (value === undefined) return undefined
	return isDay(value) ? endOfDay(timeZone, toMs(value)) - 1 : toMs(value)
}

function rejectBackward({ total, issued, due, paid, created }: Filter): void {
	const instants = ({ from, to }: Range<End>) => ({ from: from?.instant, to: to?.instant })
	const ranges: [first: string, last: string, Range<number>][] = [
		['totalMin', 'totalMax', total],
		['issuedFrom', 'issuedTo', instants(issued)],
		['dueFrom', 'dueTo', instants(due)],
		['paidFrom', 'paidTo', instants(paid)],
		['createdFrom', 'createdTo', created],
	]
	const errors = ranges.flatMap(([first, last, { from, to }]): ProblemError[] =>
		from !== undefined && to !== undefined && from > to
			? [{ parameter: last, code: 'range', detail: `must not be before ${first}` }]
			: [],
	)
	if (errors.length > 0) {
		const detail = errors.map((error) => `${error.parameter} ${error.detail}`).join('; ')
		throw new ApiError('invalid_request', `${detail}.`, { errors })
	}
}
