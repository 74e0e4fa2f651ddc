// Search and sort give the same results on every database: this file folds the text and splits it into words, and the
// database's index takes these words as they are.

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

/** PostgreSQL limits an index key to about 2,700 bytes, and folding lengthens text: one letter becomes up to 18. */
const longest = 200

/** The key by which company lists are sorted. */
export const sortName = (name: string) => fold(name).slice(0, longest)

/** The words by which a search finds a company, each once. */
export function searchText(name: string, domain: string | null | undefined): string {
	return [...new Set([...words(name), ...words(domain ?? '')])].join(' ')
}

// Every word in the index begins with its organization's id (migration 0003).

/** An FTS5 expression that matches the organization's rows which have, for each prefix, a word that begins with it. */
export function ftsQuery(organizationId: string, prefixes: readonly string[]): string {
	return prefixes.map((prefix) => `"${organizationId}_${prefix}" *`).join(' AND ')
}

/** The same as a tsquery. */
export function tsQuery(organizationId: string, prefixes: readonly string[]): string {
	return prefixes.map((prefix) => `'${organizationId}_${prefix}':*`).join(' & ')
}
