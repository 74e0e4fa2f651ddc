// Searching and sorting see the same words on every database: the text is folded and split here, and the database's
// index is given words, not text to make its own words of.

/** Lower case without accents: `Ærø Østerbro` is found as `aero`, `Émile` as `emile`. */
export function fold(text: string): string {
	return text
		.normalize('NFKD')
		.replace(/\p{M}+/gu, '')
		.toLowerCase()
		.replace(/[ßæœøłđ]/g, (letter) => spelled[letter] as string)
}

const spelled: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd' }

/** The words of a text: runs of letters and digits. */
export function words(text: string): string[] {
	return fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

/** What a company is found by. */
export function searchText(name: string, domain: string | null | undefined): string {
	return [...new Set([...words(name), ...words(domain ?? '')])].join(' ')
}

/** An FTS5 expression: rows of the organization with a word that begins with each of these. */
export function ftsQuery(organizationId: string, prefixes: readonly string[]): string {
	const parts = prefixes.map((prefix) => `searchText : "${prefix}" *`)
	return [`organizationId : "${organizationId}"`, ...parts].join(' AND ')
}

/** The same as a tsquery. */
export function tsQuery(organizationId: string, prefixes: readonly string[]): string {
	return [`'${organizationId}'`, ...prefixes.map((prefix) => `'${prefix}':*`)].join(' & ')
}
