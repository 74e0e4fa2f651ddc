// When work began, when it ended and how long it took. Pure.
import { lastInstant, toMs } from '../base/dates.ts'
import { fieldError } from '../base/errors.ts'
import type { TimeEntry, TimeEntryUpdate } from '../generated/contract.ts'

/** A year, leap day included: the most that the contract takes for a duration. */
const longestSeconds = 31_622_400

export type Span = Pick<TimeEntry, 'startedAt' | 'endedAt' | 'durationSeconds'>

/**
 * The span after the input was written on it. Of end and duration, the one that is not written follows from the other; when
 * neither is, the end and the breaks stay. Without both the entry is running.
 */
export function writeSpan(stored: Span, { startedAt, endedAt, durationSeconds }: TimeEntryUpdate): Span {
	const start = startedAt === undefined ? stored.startedAt : toMs(startedAt)
	if (endedAt === undefined && durationSeconds === undefined) return begunAt(start, stored)
	const end = endedAt ? toMs(endedAt) : null
	if (durationSeconds === undefined || durationSeconds === null) {
		return end === null ? running(start) : checked(start, end, secondsBetween(start, end), '/endedAt')
	}
	if (end !== null) return checked(start, end, durationSeconds, '/endedAt', '/durationSeconds')
	return checked(start, start + durationSeconds * 1000, durationSeconds, '/durationSeconds')
}

/** When work began that says only how long it took: so long before its end, which is now unless it is given. */
export function defaultStart({ endedAt, durationSeconds }: TimeEntryUpdate, now: number): number {
	return (endedAt && durationSeconds ? toMs(endedAt) : now) - (durationSeconds ?? 0) * 1000
}

function begunAt(start: number, stored: Span): Span {
	const { startedAt, endedAt, durationSeconds } = stored
	if (start === startedAt) return { startedAt, endedAt, durationSeconds }
	if (endedAt === null || durationSeconds === null) return running(start)
	const breaks = secondsBetween(startedAt, endedAt) - durationSeconds
	return checked(start, endedAt, secondsBetween(start, endedAt) - breaks, '/startedAt')
}

const running = (startedAt: number): Span => ({ startedAt, endedAt: null, durationSeconds: null })

/** The pointers say which field to correct, of those that were written. */
function checked(startedAt: number, endedAt: number, durationSeconds: number, endAt: string, durationAt = endAt): Span {
	const invalid = (pointer: string, detail: string) => fieldError('invalid_time_entry', pointer, detail)
	const most = secondsBetween(startedAt, endedAt)
	if (startedAt < 0) throw invalid(endAt, 'The work began before the year 1970.')
	if (endedAt > lastInstant) throw invalid(endAt, 'The work ends after the year 2200.')
	if (most < 0) throw invalid(endAt, 'The work ended before it began.')
	if (durationSeconds < 0) throw invalid(durationAt, 'The breaks are longer than what lies between beginning and end.')
	if (durationSeconds > most) throw invalid(durationAt, `Only ${most} seconds lie between beginning and end.`)
	if (durationSeconds > longestSeconds) throw invalid(durationAt, 'The work took longer than a year.')
	return { startedAt, endedAt, durationSeconds }
}

/** Whole seconds: a second that has only begun is not charged. */
const secondsBetween = (start: number, end: number) => Math.floor((end - start) / 1000)
