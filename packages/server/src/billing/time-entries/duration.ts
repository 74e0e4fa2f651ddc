// The start, end and duration of work. Pure.

import type { TimeEntry, TimeEntryUpdate } from '../../generated/contract.ts'
import { lastInstant, toMs } from '../../platform/base/dates.ts'
import { fieldError } from '../../platform/base/errors.ts'

/** A leap year: the contract's maximum for a duration. */
const longestSeconds = 31_622_400

export type Span = Pick<TimeEntry, 'startedAt' | 'endedAt' | 'durationSeconds'>

/**
 * Applies the input to a span. If the input has only an end or only a duration, the other follows from it; if it has neither,
 * the end and the breaks stay. Without an end and a duration the entry is running.
 */
export function writeSpan(stored: Span, { startedAt, endedAt, durationSeconds }: TimeEntryUpdate): Span {
	const start = startedAt === undefined ? stored.startedAt : toMs(startedAt)
	if (endedAt === undefined && durationSeconds === undefined) return moveStart(start, stored)
	const end = endedAt ? toMs(endedAt) : null
	if (durationSeconds === undefined || durationSeconds === null) {
		return end === null ? running(start) : requireValid(start, end, secondsBetween(start, end), '/endedAt')
	}
	if (end !== null) return requireValid(start, end, durationSeconds, '/endedAt', '/durationSeconds')
	return requireValid(start, start + durationSeconds * 1000, durationSeconds, '/durationSeconds')
}

/** The start of an entry that names none: now, or its duration before its end, which is now unless it is given. */
export function defaultStart({ endedAt, durationSeconds }: TimeEntryUpdate, now: number): number {
	return (endedAt && durationSeconds ? toMs(endedAt) : now) - (durationSeconds ?? 0) * 1000
}

function moveStart(start: number, stored: Span): Span {
	const { startedAt, endedAt, durationSeconds } = stored
	if (start === startedAt) return { startedAt, endedAt, durationSeconds }
	if (endedAt === null || durationSeconds === null) return running(start)
	const breaks = secondsBetween(startedAt, endedAt) - durationSeconds
	return requireValid(start, endedAt, secondsBetween(start, endedAt) - breaks, '/startedAt')
}

export const isRunning = ({ endedAt }: Pick<Span, 'endedAt'>) => endedAt === null

const running = (startedAt: number): Span => ({ startedAt, endedAt: null, durationSeconds: null })

/** `endAt` and `durationAt` point to the field of the request that the caller must correct. */
function requireValid(startedAt: number, endedAt: number, durationSeconds: number, endAt: string, durationAt = endAt): Span {
	const invalid = (pointer: string, detail: string) => fieldError('invalid_time_entry', pointer, detail)
	const elapsed = secondsBetween(startedAt, endedAt)
	if (startedAt < 0) throw invalid(endAt, 'The work began before the year 1970.')
	if (endedAt > lastInstant) throw invalid(endAt, 'The work ends after the year 2200.')
	if (elapsed < 0) throw invalid(endAt, 'The work ended before it began.')
	if (durationSeconds < 0) throw invalid(durationAt, 'The breaks are longer than what lies between beginning and end.')
	if (durationSeconds > elapsed) throw invalid(durationAt, `Only ${elapsed} seconds lie between beginning and end.`)
	if (durationSeconds > longestSeconds) throw invalid(durationAt, 'The work took longer than a year.')
	return { startedAt, endedAt, durationSeconds }
}

/** Whole seconds: a second that has only begun is not charged. */
const secondsBetween = (start: number, end: number) => Math.floor((end - start) / 1000)
