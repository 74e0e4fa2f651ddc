// The formats in which other systems write dates; Remit's own are Unix milliseconds.
import { lastInstant, parseDate } from '../../../platform/base/dates.ts'

export type DateFormat = 'iso' | 'day' | 'dmy' | 'mdy' | 'dmy_dots' | 'unix_seconds' | 'unix_milliseconds' | 'xero'

const noOffset = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?$/
const xero = /^\/Date\((-?\d{1,15})([+-]\d{4})?\)\/$/
const slashes = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/
const dots = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/

/** The Unix milliseconds of a text; undefined unless it is a date of the years 1970 to 2200 in that format. */
export function readDate(text: string, format: DateFormat): number | undefined {
	if (text.length > 64) return undefined
	const ms = parse(text.trim(), format)
	return ms !== undefined && ms >= 0 && ms <= lastInstant ? ms : undefined
}

function parse(text: string, format: DateFormat): number | undefined {
	switch (format) {
		case 'iso':
			return parseDate(noOffset.test(text) ? `${text.replace(' ', 'T')}Z` : text)
		case 'day':
			return text.length === 10 ? parseDate(text) : undefined
		case 'dmy':
			return ordered(slashes.exec(text), [2, 1])
		case 'mdy':
			return ordered(slashes.exec(text), [1, 2])
		case 'dmy_dots':
			return ordered(dots.exec(text), [2, 1])
		case 'unix_seconds':
			return /^\d{1,10}(\.\d{1,6})?$/.test(text) ? Math.floor(Number(text) * 1_000) : undefined
		case 'unix_milliseconds':
			return /^\d{1,13}$/.test(text) ? Number(text) : undefined
		case 'xero': {
			const [, ms] = xero.exec(text) ?? []
			return ms === undefined ? undefined : Number(ms)
		}
	}
}

function ordered(found: RegExpExecArray | null, [month, day]: readonly [number, number]): number | undefined {
	if (!found) return undefined
	const two = (part: number) => (found[part] as string).padStart(2, '0')
	return parseDate(`${found[3]}-${two(month)}-${two(day)}`)
}

/** Unix milliseconds in a format; the day is that of UTC. */
export function writeDate(ms: number, format: DateFormat): string | number {
	const iso = new Date(ms).toISOString()
	const [year, month, day] = iso.slice(0, 10).split('-')
	switch (format) {
		case 'iso':
			return iso
		case 'day':
			return iso.slice(0, 10)
		case 'dmy':
			return `${day}/${month}/${year}`
		case 'mdy':
			return `${month}/${day}/${year}`
		case 'dmy_dots':
			return `${day}.${month}.${year}`
		case 'unix_seconds':
			return Math.floor(ms / 1_000)
		case 'unix_milliseconds':
			return ms
		case 'xero':
			return `/Date(${ms}+0000)/`
	}
}
