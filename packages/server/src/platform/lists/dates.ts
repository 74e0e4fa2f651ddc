// The ends of ranges of dates, as callers write them: a day is that calendar day in the organization's time zone, the last one whole.

import type { DateInput } from '../../generated/contract.ts'
import { calendarDay, dayMs, endOfDay, startOfDay, toMs } from '../base/dates.ts'

/** An end of a range of dates, for dates that are days and for those that are instants. */
export interface End {
	readonly day: number
	readonly instant: number
}

const isDay = (value: DateInput) => typeof value === 'string' && value.length === 10

/** A number that is a day is one here: answers show days so. A text with a time is an instant, also at midnight. */
const isAnyDay = (value: DateInput) => (typeof value === 'string' ? isDay(value) : value % dayMs === 0)

/** The beginning of a range of dates that are days or instants. */
export const firstOf = (value: DateInput, timeZone: string): End => bound(value, timeZone, startOfDay)

/** The end of one. */
export const lastOf = (value: DateInput, timeZone: string): End =>
	bound(value, timeZone, (zone, date) => endOfDay(zone, date) - 1)

function bound(value: DateInput, timeZone: string, instantOf: typeof startOfDay): End {
	const ms = toMs(value)
	return isAnyDay(value) ? { day: ms, instant: instantOf(timeZone, ms) } : { day: calendarDay(timeZone, ms), instant: ms }
}

/** The beginning of a range of times that are always instants: only what is written as a day is one. */
export function beginningOf(value: DateInput | undefined, timeZone: string): number | undefined {
	if (value === undefined) return undefined
	return isDay(value) ? startOfDay(timeZone, toMs(value)) : toMs(value)
}

/** The end of one. */
export function endOf(value: DateInput | undefined, timeZone: string): number | undefined {
	if (value === undefined) return undefined
	return isDay(value) ? endOfDay(timeZone, toMs(value)) - 1 : toMs(value)
}

/** A query whose times are instants. */
export type Instants<Query, Name extends PropertyKey> = Omit<Query, Name> & { readonly [Each in Name]?: number | undefined }

/** Makes the times of a query instants: of those that begin a range, and of those that end one. */
export function withInstants<Query extends object, Begin extends keyof Query, End extends keyof Query = never>(
	query: Query,
	timeZone: string,
	{ begin, end = [] }: { readonly begin: readonly Begin[]; readonly end?: readonly End[] },
): Instants<Query, Begin | End> {
	const of = (names: readonly PropertyKey[], instantOf: typeof endOf) =>
		names.flatMap((name) => {
			const instant = instantOf((query as Record<PropertyKey, DateInput | undefined>)[name], timeZone)
			return instant === undefined ? [] : [[name, instant]]
		})
	return { ...query, ...Object.fromEntries([...of(begin, beginningOf), ...of(end, endOf)]) }
}
