// The contract's formats that JSON Schema does not define: one table for the validators and for the words of errors.
import { domainToASCII } from 'node:url'
import currencies from 'currency-codes'
import { isTimeZone, parseDate } from '../base/dates.ts'
import { isEventPattern } from './event-patterns.ts'

interface Format {
	readonly type: 'string' | 'number'
	readonly validate: (value: never) => boolean
	/** Follows "must be" in an error. */
	readonly meaning: string
	/** Where the first character is that the format refuses, in the text that is returned with it; below 0: none is. */
	readonly find: (text: string) => readonly [index: number, text: string]
}

const string = (meaning: string, validate: (value: string) => boolean): Format => ({
	...{ type: 'string', validate, meaning },
	find: (text) => [text.search(noIdentifier), text],
})
const number = (meaning: string, validate: (value: number) => boolean): Format => ({
	...{ type: 'number', validate, meaning },
	find: (text) => [-1, text],
})

/** Codes of ISO 4217 in which nothing is paid: funds and units of account; and those with X but the shared currencies. */
const notPaid = /^(BOV|CHE|CHW|CLF|COU|MXV|USN|UYI|UYW|X(?!AF|CD|CG|OF|PF)..)$/
const paidCurrencies = new Set(currencies.codes().filter((code) => !notPaid.test(code)))
/** What shows nothing, or like a blank: also the signs of the direction, with which a name or number reads as another one (Unicode Technical Report 36). */
const invisible = '\\p{Default_Ignorable_Code_Point}\\u2800\\ufff9-\\ufffc'
const noText = /[\0\p{Cs}]/u
const noLine = new RegExp(`[\\p{Cc}\\p{Cs}\\u2028\\u2029${invisible}]`, 'u')
const noIdentifier = new RegExp(`(?! )\\s|${noLine.source}`, 'u')
/**
 * Joiners between letters of a script that needs them, as Persian and Hindi do, or within an emoji, and the selector of another shape of
 * such a character.
 */
const joined =
	/(?<=[[\p{L}\p{M}]--[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Zinh}]]|[\p{Extended_Pictographic}\p{Emoji_Modifier}])(?:\p{Variation_Selector}?[\u200c\u200d](?=\p{L}|\p{M}|\p{Extended_Pictographic})|\p{Variation_Selector})|(?<=[0-9#*])\ufe0f(?=\u20e3)/gv

/** Longer text is too long for any such field, and composing it may take long. */
const mostTrimmed = 1_000

/** Text as it is stored where the contract says `x-trimmed`: composed, and without the white space around it. */
export const trimmed = (text: string): string => (text.length > mostTrimmed ? text : text.trim().normalize('NFC'))

/** The text with a letter for each sign that is joined: their places stay. */
const masked = (text: string): string => text.replace(joined, (found) => 'x'.repeat(found.length))

/** As `Name` of the contract has it. */
const longestName = 200

/** The name that the contract would store; undefined when it would refuse the text. */
export function nameIn(text: string): string | undefined {
	const name = trimmed(text)
	return name !== '' && [...name].length <= longestName && !noLine.test(masked(name)) ? name : undefined
}

/** The name that is nearest to a text of others; undefined when nothing of it shows. */
export function nearestName(text: string): string | undefined {
	const line = trimmed(text.slice(0, mostTrimmed).replaceAll(new RegExp(`(?:\\s|${noLine.source})+`, 'gu'), ' '))
	return nameIn([...line].slice(0, longestName).join(''))
}

/** What characters are, by the first that fits. */
const kindsOfCharacter = [
	[/[\n\r\u0085\u2028\u2029]/, 'line break'],
	[/\p{Cc}/u, 'control character'],
	[/\p{Cs}/u, 'lone surrogate'],
	[new RegExp(`[${invisible}]`, 'u'), 'invisible character'],
	[/\s/, 'white space'],
] as const

/** Names the character for which a format refuses a text, and its place; undefined when there is another reason. */
export function refusedIn(text: string, { find }: Format): string | undefined {
	const [index, within] = find(text)
	if (index < 0) return undefined
	const character = String.fromCodePoint(within.codePointAt(index) as number)
	const [, kind] = kindsOfCharacter.find(([pattern]) => pattern.test(character)) ?? []
	const code = within.codePointAt(index)?.toString(16).toUpperCase().padStart(4, '0')
	return `the ${kind} U+${code} at character ${[...within.slice(0, index)].length + 1}`
}

const decimal = /^-?\d{1,12}(\.\d{1,6})?$/
const percent = /^(100(\.0{1,4})?|\d{1,2}(\.\d{1,4})?)$/

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
/** Headers of HTTP itself and of Remit. */
const takenHeaders =
	/^(webhook-.*|content-.*|proxy-.*|sec-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|date|accept-encoding|user-agent)$/i

const isOwnHeader = (name: string) => headerName.test(name) && !takenHeaders.test(name)

function isLocale(tag: string): boolean {
	try {
		return Intl.NumberFormat.supportedLocalesOf(tag).length > 0
	} catch {
		return false
	}
}

/** Words with single dots between them: a word in quotes is not taken, as most servers take none. */
const localPart = /^(?!\.)(?:\.?[^\s\p{C}@<>()[\],;:"\\.])+$/u
const asciiLabel = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
/** The last label is no number: `1.2.3.4` is no domain. */
const asciiDomain = new RegExp(`^${asciiLabel}(?:\\.(?!\\d+$)${asciiLabel})+$`)
const anyDomain = /^(?!-)[\p{L}\p{M}\p{N}·・-]+(?<!-)(\.(?!-)[\p{L}\p{M}\p{N}·・-]+(?<!-))+$/u

/** RFC 5321, 4.5.3.1, gives the local part 64 bytes, and the domain, in ASCII, what is left of 254; a label has 63 (RFC 1035). */
export function isEmail(value: string): boolean {
	const at = value.lastIndexOf('@')
	const [local, domain] = [value.slice(0, Math.max(at, 0)), value.slice(at + 1)]
	if (!localPart.test(local) || Buffer.byteLength(local) > 64) return false
	return asciiDomain.test(domain) ? domain.length <= 253 - local.length : isInternationalDomain(domain, 253 - local.length)
}

/** Whether mail can go to the domain under its ASCII name, of which `longest` says how much an address has room for. */
function isInternationalDomain(domain: string, longest: number): boolean {
	const ascii = anyDomain.test(domain) ? domainToASCII(domain) : ''
	// Without such a label it was ASCII in other widths, which only looks like another domain.
	if (!asciiDomain.test(ascii) || !/(^|\.)xn--/.test(ascii)) return false
	return ascii.length <= longest
}

export const formats: Readonly<Record<string, Format>> = {
	text: {
		...string('text without NUL characters or lone surrogates', (value) => !value.includes('\0') && value.isWellFormed()),
		find: (text) => [text.search(noText), text],
	},
	line: {
		...string('one line of text without control characters or invisible ones', (value) => !noLine.test(masked(value))),
		find: (text) => [masked(trimmed(text)).search(noLine), trimmed(text)],
	},
	identifier: {
		...string(
			'one line of text without control characters, invisible ones, or white space but blanks',
			(value) => !noIdentifier.test(value),
		),
		find: (text) => [trimmed(text).search(noIdentifier), trimmed(text)],
	},
	currency: string('an ISO 4217 code of a currency to pay in, in capitals, such as USD', (value) => paidCurrencies.has(value)),
	decimal: string('decimal text with at most 12 digits before and 6 after the point', (value) => decimal.test(value)),
	'decimal-number': number('a number with at most 6 decimal places', (value) => decimal.test(String(value))),
	'percent-text': string('a percentage from 0 to 100 with at most 4 decimal places, such as "9.975"', (value) =>
		percent.test(value),
	),
	percent: number('a percentage with at most 4 decimal places', (value) => percent.test(String(value))),
	'date-or-date-time': string(
		'a date YYYY-MM-DD, an RFC 3339 date-time with an offset such as 2026-03-31T10:00:00Z, or Unix milliseconds',
		(value) => parseDate(value) !== undefined,
	),
	'time-zone': string('a time zone of the IANA database, such as Europe/Berlin', isTimeZone),
	locale: string('a language tag, such as en-GB', isLocale),
	'date-time-offset': string(
		'an RFC 3339 date-time with an offset such as 2026-03-31T10:00:00Z, or Unix milliseconds',
		(value) => value.length > 10 && parseDate(value) !== undefined,
	),
	'event-pattern': string('a type of event such as invoice.paid, all of a kind such as invoice.*, or *', isEventPattern),
	'event-cursor': string('the nextCursor of a list of events, or now', (value) => /^(\d+|now)$/.test(value)),
	'webhook-url': string(
		'an http or https URL without a user name, password, fragment, blank or backslash',
		(value) => /^https?:\/\/[^\s\p{C}/?#@\\]+([/?][^\s\p{C}#\\]*)?$/iu.test(value) && URL.canParse(value),
	),
	'header-name': string('the name of a header that an endpoint may have, such as X-Api-Key', isOwnHeader),
	'header-value': string('visible ASCII characters, with blanks between them', (value) =>
		/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value),
	),
	email: string('an e-mail address', isEmail),
}

/** The formats as Ajv takes them. */
export const formatOptions = Object.fromEntries(
	Object.entries(formats).map(([name, { type, validate }]) => [name, { type, validate }]),
)
