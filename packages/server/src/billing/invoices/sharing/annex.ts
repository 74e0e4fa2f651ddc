// The tables that follow an invoice: hours and amount of each hourly rate, and the timesheet.

import type { DocumentTable, LineItem } from '../../../generated/contract.ts'
import { formatHours, formatInstant } from '../../../platform/base/format.ts'
import type { Words } from '../../../platform/rendering/words/words.ts'

/** A time entry as the timesheet shows it. */
export interface WorkedTime {
	readonly startedAt: number
	readonly durationSeconds: number
	readonly description: string | null
	readonly taskName: string | null
	readonly deliverableName: string | null
}

/** Lines of hours, grouped by price in the order in which the prices first appear; null when there are none. */
export function rateTable(
	lines: readonly LineItem[],
	{ words, locale, money }: { words: Words; locale: string; money: (cents: number | string) => string },
): DocumentTable | null {
	const hourly = lines.filter(isHourly)
	if (hourly.length === 0) return null
	const hoursAndAmount = (group: readonly LineItem[]) => [
		formatHours(total(group.map(seconds)), locale),
		money(total(group.map((line) => line.amountCents))),
	]
	return {
		title: words.hoursByRate,
		columns: [words.rate, words.hours, words.amount].map((label) => ({ label, numeric: true })),
		rows: [...Map.groupBy(hourly, (line) => line.unitPriceCents)].map(([rate, group]) => [money(rate), ...hoursAndAmount(group)]),
		sum: [words.sum, ...hoursAndAmount(hourly)],
	}
}

/** One row for each entry, in the order of time, without the columns that no entry fills. */
export function timesheetTable(
	entries: readonly WorkedTime[],
	{ words, locale, timeZone }: { words: Words; locale: string; timeZone: string },
): DocumentTable | null {
	if (entries.length === 0) return null
	const columns = [
		{ label: words.date, cell: (entry: WorkedTime) => formatInstant(entry.startedAt, locale, timeZone) },
		{ label: words.deliverable, cell: (entry: WorkedTime) => entry.deliverableName?.trim() ?? '' },
		{ label: words.task, cell: (entry: WorkedTime) => entry.taskName?.trim() ?? '' },
		{ label: words.description, cell: (entry: WorkedTime) => entry.description?.trim() ?? '' },
	].filter(({ cell }) => entries.some((entry) => cell(entry) !== ''))
	const hours = (worked: readonly WorkedTime[]) =>
		formatHours(total(worked.map(({ durationSeconds }) => durationSeconds)), locale)
	return {
		title: words.timesheet,
		columns: [...columns.map(({ label }) => ({ label, numeric: false })), { label: words.hours, numeric: true }],
		rows: entries
			.toSorted((a, b) => a.startedAt - b.startedAt)
			.map((entry) => [...columns.map(({ cell }) => cell(entry)), hours([entry])]),
		sum: [...columns.map((_, index) => (index === 0 ? words.sum : '')), hours(entries)],
	}
}

/** Whether the line charges the seconds of time entries. Lines from before there were time entries lack the field. */
export const isTimed = (line: LineItem): line is LineItem & { durationSeconds: number } =>
	typeof line.durationSeconds === 'number'

/** Whether the line is priced by the hour; time by the day or the week is not. */
const isHourly = (line: LineItem) =>
	line.kind === 'time' && (isTimed(line) || line.unit === null || /^(h|hrs?|hours?)$/i.test(line.unit))

const seconds = (line: LineItem) => (isTimed(line) ? line.durationSeconds : Number(line.quantity) * 3600)

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
