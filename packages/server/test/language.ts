// Whether a document is in one language.
import type { Language } from '../src/generated/contract.ts'
import { wordsOf } from '../src/platform/rendering/words/languages.ts'

/** The texts of a table with the path of each; of a plural, whose forms differ by language, only `other`. */
export function textsOf(language: Language): Map<string, string> {
	const texts = (value: object, path: string): [string, string][] =>
		Object.entries(value)
			.filter(([key]) => !('other' in value) || key === 'other')
			.flatMap(([key, inner]) => (typeof inner === 'string' ? [[`${path}/${key}`, inner]] : texts(inner, `${path}/${key}`)))
	return new Map(texts(wordsOf(language), ''))
}

/** The longest part of a text around what is filled in. */
export const fixedPart = (text: string): string =>
	text
		.split(/\{\w+\}/)
		.map((part) => part.trim())
		.toSorted((a, b) => b.length - a.length)[0] as string

const hasWord = (text: string, word: string) =>
	new RegExp(`(?<![\\p{L}\\d])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\p{L}\\d])`, 'u').test(text)

/** The words of English in a text in another language, but for those which that language has too. */
export function englishIn(text: string, language: Language): string[] {
	const own = textsOf(language)
	const ownTexts = [...own.values()].join('\n')
	return [...textsOf('en').values()].map(fixedPart).filter((word) => !hasWord(ownTexts, word) && hasWord(text, word))
}

/** What a reader sees of HTML, and hears of it. */
export const readable = (html: string): string =>
	html
		.slice(html.indexOf('<title>'))
		.replace(/<style.*?<\/style>|<!--.*?-->/gs, ' ')
		.replace(/<[^>]*?data-label="([^"]*)"[^>]*>/g, ' $1 ')
		.replace(/<[^>]*>/g, ' ')
		.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
