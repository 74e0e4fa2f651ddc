// Searching and sorting see the same words on every database: the text is folded and split here, and the database's
// index is given words, not text to make its own words of.

/** Lower case without accents: `Ærø Østerbro` is found as `aero`, `Émile` as `emile`. */
export function fold(text: string): string {
	return text
		.normalize('NFKD')
		.replace(/\p{M}+/gu, '')
		.toLowerCase()
		.replace(/[ßæœøłđıς]/g, (letter) => spelled[letter] as string)
}

const spelled: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ' }

/** The words of a text: runs of letters and digits. */
export function words(text: string): string[] {
	return (fold(text).match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, longest))
}

/** PostgreSQL's indexes take no key beyond some 2,700 bytes, and folding makes some letters five. */
const longest = 200

/** What a company is sorted by. */
export const sortName = (name: string) => fold(name).slice(0, longest)

/** What a company is found by. */
export function searchText(name: string, domain: string | null | undefined): string {
	return [...new Set([...words(name), ...words(domain ?? '')])].join(' ')
}

// Every word of the index carries its organization (migration 0003).

/** An FTS5 expression: rows of the organization with a word that begins with each of these. */
export function ftsQuery(organizationId: string, prefixes: readonly string[]): string {
	return prefixes.map((prefix) => `"${organizationId}_${prefix}" *`).join(' AND ')
}

/** The same as a tsquery. */
export function tsQuery(organizationId: string, prefixes: readonly string[]): string {
	return prefixes.map((prefix) => `'${organizationId}_${prefix}':*`).join(' & ')
}
