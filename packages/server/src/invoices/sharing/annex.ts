// The tables that follow an invoice: hours and amount of each hourly rate, and the timesheet.
import { formatHours, formatInstant, formatMoney } from '../../base/format.ts'
import type { LineItem } from '../../generated/contract.ts'
import type { DocumentTable } from '../../rendering/document.ts'

/** A time entry as the timesheet shows it. */
export interface WorkedTime {
	readonly startedAt: number
	readonly durationSeconds: number
	readonly description: string | null
	readonly taskName: string | null
	readonly deliverableName: string | null
}

/** Lines of hours, grouped by price in the order in which the prices first appear; null when there are none. */
export function rateTable(lines: readonly LineItem[], currency: string, locale: string): DocumentTable | null {
	const money = (cents: number | string) => formatMoney(cents, currency, locale)
	const hourly = lines.filter(isHourly)
	if (hourly.length === 0) return null
	const hoursAndAmount = (group: readonly LineItem[]) => [
		formatHours(total(group.map(seconds)), locale),
		money(total(group.map((line) => line.amountCents))),
	]
	return {
		title: 'Hours by rate',
		columns: ['Rate', 'Hours', 'Amount'].map((label) => ({ label, numeric: true })),
		rows: [...Map.groupBy(hourly, (line) => line.unitPriceCents)].map(([rate, group]) => [money(rate), ...hoursAndAmount(group)]),
		sum: ['Total', ...hoursAndAmount(hourly)],
	}
}

/** One row for each entry, in the order of time, without the columns that no entry fills. */
export function timesheetTable(entries: readonly WorkedTime[], locale: string, timeZone: string): DocumentTable | null {
	if (entries.length === 0) return null
	const columns = [
		{ label: 'Date', cell: (entry: WorkedTime) => formatInstant(entry.startedAt, locale, timeZone) },
		{ label: 'Deliverable', cell: (entry: WorkedTime) => entry.deliverableName?.trim() ?? '' },
		{ label: 'Task', cell: (entry: WorkedTime) => entry.taskName?.trim() ?? '' },
		{ label: 'Description', cell: (entry: WorkedTime) => entry.description?.trim() ?? '' },
	].filter(({ cell }) => entries.some((entry) => cell(entry) !== ''))
	const hours = (worked: readonly WorkedTime[]) =>
		formatHours(total(worked.map(({ durationSeconds }) => durationSeconds)), locale)
	return {
		title: 'Timesheet',
		columns: [...columns.map(({ label }) => ({ label, numeric: false })), { label: 'Hours', numeric: true }],
		rows: entries
			.toSorted((a, b) => a.startedAt - b.startedAt)
			.map((entry) => [...columns.map(({ cell }) => cell(entry)), hours([entry])]),
		sum: [...columns.map((_, index) => (index === 0 ? 'Total' : '')), hours(entries)],
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
