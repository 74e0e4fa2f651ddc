// Callers send dates as Unix milliseconds, `YYYY-MM-DD` or RFC 3339 with an offset; Remit keeps Unix milliseconds. A date
// without a time means that day at 00:00 UTC, whatever the time zone of the server.

const dayPattern = /^(\d{4})-(\d\d)-(\d\d)$/
const instantPattern = /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** The end of the year 2200 (`UnixMs` in the contract). */
export const lastInstant = Date.UTC(2201, 0, 1) - 1

/** The milliseconds of the text; undefined unless it is a calendar day or an instant of the years 1970 to 2200. */
export function parseDate(text: string): number | undefined {
	const day = parseDay(text.slice(0, 10))
	if (day === undefined) return undefined
	if (text.length === 10) return day
	if (!instantPattern.test(text)) return undefined
	const instant = Date.parse(text.toUpperCase())
	return instant < 0 || instant > lastInstant ? undefined : instant
}

/** The milliseconds of a date that has passed the contract's validation; throws RangeError for any other text. */
export function toMs(value: string | number): number {
	const ms = typeof value === 'string' ? parseDate(value) : value
	if (ms === undefined) throw new RangeError(`not a date: ${JSON.stringify(value)}`)
	return ms
}

function parseDay(text: string): number | undefined {
	const match = dayPattern.exec(text)
	if (!match) return undefined
	const [year, month, day] = match.slice(1).map(Number) as [number, number, number]
	if (year < 1970 || year > 2200) return undefined
	const date = new Date(Date.UTC(year, month - 1, day))
	return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined
}

/** When today begins in a time zone: as a date (00:00 UTC of that calendar day) and as an instant. */
export interface Today {
	readonly date: number
	readonly instant: number
}

const todays = new Map<string, Today & { readonly ends: number }>()

/** Today in an IANA time zone. Cached until the day ends, because every read of an invoice asks for it. */
export function todayIn(timeZone: string, now: number): Today {
	const known = todays.get(timeZone)
	if (known && now >= known.instant && now < known.ends) return known
	const date = calendarDay(timeZone, now)
	const today = { date, instant: startOf(date, timeZone), ends: startOf(date + dayMs, timeZone) }
	todays.set(timeZone, today)
	return today
}

/** Ends of days to remember: invoices of one day are due on one day. */
const maxEnds = 1_000
const ends = new Map<string, number>()

/** When the day ends in a time zone that a date, or an instant, lies in. */
export function endOfDay(timeZone: string, dateOrInstant: number): number {
	const name = `${timeZone} ${dateOrInstant}`
	const known = ends.get(name)
	if (known !== undefined) return known
	const date = dateOrInstant % dayMs === 0 ? dateOrInstant : calendarDay(timeZone, dateOrInstant)
	const end = startOf(date + dayMs, timeZone)
	if (ends.size >= maxEnds) ends.clear()
	ends.set(name, end)
	return end
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** When a calendar day begins in a time zone. */
export const startOfDay = (timeZone: string, date: number): number => endOfDay(timeZone, date - dayMs)

/** The calendar day in a time zone that an instant lies in, as a date. */
export function calendarDay(timeZone: string, instant: number): number {
	const known = formats.get(timeZone)
	const format = known ?? new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
	if (!known) formats.set(timeZone, format)
	return Date.parse(`${format.format(instant)}T00:00:00Z`)
}

/**
 * The first instant of a calendar day in a time zone, found by bisection in steps of a quarter hour: offsets lie between
 * -12 and +14 hours, and days begin at whole quarter hours of UTC.
 */
function startOf(date: number, timeZone: string): number {
	const step = 15 * 60_000
	let low = date - 15 * 3_600_000
	let high = date + 15 * 3_600_000
	while (high - low > step) {
		const middle = low + Math.floor((high - low) / 2 / step) * step
		if (calendarDay(timeZone, middle) >= date) high = middle
		else low = middle
	}
	return high
}

/** Whether a name is a time zone of the IANA database. An offset such as `+01:00`, which Intl also takes, is not. */
export function isTimeZone(name: string): boolean {
	if (!/^[A-Za-z]/.test(name)) return false
	try {
		new Intl.DateTimeFormat('en', { timeZone: name })
		return true
	} catch {
		return false
	}
}
