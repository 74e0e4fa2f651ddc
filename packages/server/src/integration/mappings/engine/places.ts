// Domains and countries as other systems write them.

const maxUrl = 2_048

/** The domain of a URL, a host or an e-mail address, in lower case and without `www.`; undefined if there is none. */
export function domainOf(text: string): string | undefined {
	const trimmed = text.trim()
	if (trimmed.length > maxUrl) return undefined
	const at = trimmed.includes('://') ? -1 : trimmed.lastIndexOf('@')
	const place = trimmed.slice(at + 1)
	const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(place) ? place : `https://${place}`)
	const host =
		url?.hostname
			.toLowerCase()
			.replace(/\.$/, '')
			.replace(/^www\./, '') ?? ''
	return /^[^\s:[\]]+\.[^\s:[\]\d.][^\s:[\].]*$/.test(host) ? host : undefined
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
/** What Intl names, and is no country. */
const noCountry = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ'])
const languages = ['en', 'de', 'fr', 'es', 'it', 'nl']
const others: readonly (readonly [name: string, code: string])[] = [
	['usa', 'US'],
	['united states of america', 'US'],
	['great britain', 'GB'],
	['czech republic', 'CZ'],
]

let names: ReadonlyMap<string, string> | undefined

/** The country names of six languages, in lower case; made at the first use, in about 10 ms. */
function codesByName(): ReadonlyMap<string, string> {
	if (names) return names
	const codes = letters.flatMap((first) => letters.map((second) => first + second)).filter(isCurrent)
	const found = new Map(others)
	for (const language of languages) {
		const display = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
		for (const code of codes) {
			const name = display.of(code)?.toLowerCase()
			if (name !== undefined && !found.has(name)) found.set(name, code)
		}
	}
	names = found
	return found
}

const regionOf = (code: string) => new Intl.Locale(`und-${code}`).region
/** Codes that were given up, such as DD, have another region in their place. */
const isCurrent = (code: string) => !noCountry.has(code) && regionOf(code) === code

/** The ISO 3166-1 code of a country that a text names, or has the code of; undefined for any other text. */
export function countryOf(text: string): string | undefined {
	if (text.length > 100) return undefined
	const name = text.trim().toLowerCase()
	if (!/^[a-z]{2}$/.test(name)) return codesByName().get(name)
	// `UK` stands for GB.
	const code = regionOf(name.toUpperCase()) ?? ''
	return [...codesByName().values()].includes(code) ? code : undefined
}
