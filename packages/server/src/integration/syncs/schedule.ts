// When the next run of a sync begins by itself.
import { Cron } from 'croner'
import type { SyncSchedule } from '../../generated/contract.ts'
import { minuteMs } from '../../platform/base/dates.ts'
import { fieldError } from '../../platform/base/errors.ts'

/** The next time after `now`; null when there is none. Of `interval` the first run is one interval away. */
export function nextTime(
	{ type, minutes = 0, expression = '', timeZone }: SyncSchedule,
	zone: string,
	now: number,
): number | null {
	if (type === 'interval') return now + minutes * minuteMs
	if (type !== 'cron') return null
	return new Cron(expression, { timezone: timeZone ?? zone }).nextRun(new Date(now))?.getTime() ?? null
}

/** When a run is due that was planned for a time. A schedule that can say no time as late planned it before the clock was set back. */
export function dueTime(schedule: SyncSchedule, zone: string, planned: number, now: number): number {
	const next = nextTime(schedule, zone, now)
	if (next === null || planned <= next) return planned
	return schedule.type === 'interval' ? now : next
}

/** Throws 422 for a schedule that contradicts itself or never comes. */
export function requireSchedule(schedule: SyncSchedule, zone: string, now: number): void {
	const { type, minutes, expression, timeZone } = schedule
	const places = { minutes, expression, timeZone }
	const allowed: readonly string[] = type === 'interval' ? ['minutes'] : type === 'cron' ? ['expression', 'timeZone'] : []
	const wrong = Object.entries(places).find(([name, value]) => value !== undefined && !allowed.includes(name))
	if (wrong) throw invalid(`/schedule/${wrong[0]}`, `A schedule of the type ${type} has no ${wrong[0]}.`)
	if (type === 'interval' && minutes === undefined) throw invalid('/schedule/minutes', 'An interval needs its minutes.')
	if (type !== 'cron') return
	if (expression === undefined) throw invalid('/schedule/expression', 'A cron schedule needs its expression.')
	if (expression.trim().split(/\s+/).length !== 5)
		throw invalid('/schedule/expression', 'The expression has five fields: minute, hour, day of month, month, day of week.')
	if (!comes(schedule, zone, now))
		throw invalid('/schedule/expression', 'The expression is wrong, or names a time that never comes.')
}

function comes(schedule: SyncSchedule, zone: string, now: number): boolean {
	try {
		return nextTime(schedule, zone, now) !== null
	} catch {
		return false
	}
}

const invalid = (pointer: string, detail: string) => fieldError('invalid_sync', pointer, detail)
