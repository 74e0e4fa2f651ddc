// Days are `YYYY-MM-DD` and have no zone; times are milliseconds and are shown in the zone of the organization.

const formats = new Map<string, Intl.DateTimeFormat>()

/** To make a format takes a hundred times as long as to use one. */
function format(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
	const name = `${locale} ${JSON.stringify(options)}`
	const known = formats.get(name) ?? new Intl.DateTimeFormat(locale, options)
	formats.set(name, known)
	return known
}

/** `31 Mar 2026`, as the locale writes it. */
export const showDay = (day: string, locale: string): string =>
	format(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`))

/** `23 – 29 Mar 2026`: what both days share stands once. */
export const showDays = (first: string, last: string, locale: string): string =>
	format(locale, { dateStyle: 'medium', timeZone: 'UTC' }).formatRange(
		new Date(`${first}T00:00:00Z`),
		new Date(`${last}T00:00:00Z`),
	)

/** `Mar` of `2026-03`. */
export const showMonth = (month: string, locale: string): string =>
	format(locale, { month: 'short', timeZone: 'UTC' }).format(new Date(`${month}-01T00:00:00Z`))

export const showTime = (time: number, locale: string, timeZone: string): string =>
	format(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(time)

/** The day that it is in a zone. */
export function dayIn(timeZone: string, time: number): string {
	const parts = format('en', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(time)
	const part = (type: string) => parts.find((found) => found.type === type)?.value
	return `${part('year')}-${part('month')}-${part('day')}`
}

/** `1:30` of 5400 seconds. */
export const showHours = (seconds: number): string => {
	const minutes = Math.round(seconds / 60)
	return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`
}

/** Seconds of `1:30`, `1.5`, `1,5`, `90m`; undefined when it is no duration. */
export function parseHours(text: string): number | undefined {
	const typed = text.trim()
	const [, minutes] = /^(\d{1,6})\s*m(?:in)?$/.exec(typed) ?? []
	if (minutes) return Number(minutes) * 60
	const [, whole, past] = /^(\d{1,4}):([0-5]\d)$/.exec(typed) ?? []
	if (whole && past) return Number(whole) * 3_600 + Number(past) * 60
	return /^(\d{1,4}([.,]\d{1,4})?|[.,]\d{1,4})\s*h?$/.test(typed)
		? Math.round(Number(typed.replace(/\s*h$/, '').replace(',', '.')) * 3_600)
		: undefined
}

/** `14:05`: the time of day that it is in a zone. */
export const clockIn = (timeZone: string, time: number): string =>
	format('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(time)

/** The instant of a day and a time of day in a zone. A time that a change of the clocks skips is the one an hour later. */
export function instantIn(timeZone: string, day: string, clock: string): number {
	const wanted = Date.parse(`${day}T${clock}:00Z`)
	const offset = (time: number) =>
		Date.parse(`${dayIn(timeZone, time)}T${clockIn(timeZone, time)}:00Z`) - Math.floor(time / 60_000) * 60_000
	const first = wanted - offset(wanted)
	const second = wanted - offset(first)
	return clockIn(timeZone, second) === clock ? second : Math.max(first, second)
}

/** The Monday of a day's week. */
export const mondayOf = (day: string): string => addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7))

/** `Tuesday 31 Mar`. */
export const showWeekday = (day: string, locale: string): string =>
	format(locale, { weekday: 'long', day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`))

const dayMs = 86_400_000

/** The day of a date of a record: one at 00:00 UTC is that day everywhere, any other is an instant and has the day of its zone. */
export const dayOf = (date: number, timeZone: string): string => dayIn(date % dayMs === 0 ? 'UTC' : timeZone, date)

export const addDays = (day: string, days: number): string =>
	new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

const units = [
	['year', 31_536_000],
	['month', 2_592_000],
	['day', 86_400],
	['hour', 3_600],
	['minute', 60],
] as const

/** `3 days ago`, `in 2 hours`, `now`: in the language of the application, amid whose words it stands. */
export function showAgo(time: number, now: number): string {
	const seconds = (time - now) / 1000
	// What lies ahead is rounded: of seven days a second is gone when they are shown.
	const countOf = (size: number) => (seconds > 0 ? Math.round(seconds / size) : Math.trunc(seconds / size))
	const [unit, size] = units.find(([, length]) => countOf(length) !== 0) ?? (['second', 1] as const)
	const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
	return unit === 'second' ? relative.format(0, 'second') : relative.format(countOf(size), unit)
}
