// The words of a text. Search and sort give the same results on every database: this file folds the text and splits it into words,
// and the databases compare bytes.

/** Lower case without accents: `Ærø Østerbro` is found as `aero`, `Émile` as `emile`. */
export function fold(text: string): string {
	if (isAscii(text)) return text.toLowerCase()
	return text
		.normalize('NFKD')
		.replace(/\p{M}+/gu, '')
		.toLowerCase()
		.replace(/[ßæœøłđıςʼʻ]/g, (letter) => spelled[letter] as string)
}

/** Most names are, and nothing of them is to be taken apart: that is most of the time to find their words. */
const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

const spelled: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ', ʼ: "'", ʻ: "'" }

/** PostgreSQL limits an index key to about 2,700 bytes, and folding lengthens text: one letter becomes up to 18. */
const longest = 200

/** The key by which company lists are sorted. */
export const sortName = (name: string) => fold(name).slice(0, longest)

/** Runs of letters and digits, with the signs that end a name: `c++` and `c#` are not `c`. */
const run = /[\p{L}\p{N}]+(?:\+{2,}|[+#]+(?![\p{L}\p{N}+#]))?/gu

/** What stands before the name in a web address. */
const beforeHost = /(?<![\p{L}\p{N}])(?:[a-z][a-z\d+.-]{1,20}:\/\/)?(?:www\.(?=[\p{L}\p{N}]))?/gu

/** Scripts that put no space between words; of Korean, which puts some, people search for parts of the words. */
const spaceless = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]+|\p{sc=Hangul}+/u
const parts = new RegExp(`${spaceless.source}|(?:(?!${spaceless.source}).)+`, 'gu')

/** The words of a text, as they are stored, in their order. Of Chinese, Japanese and Korean these are each two characters, and the last. */
export const words = (text: string): string[] => split(text, (pairs, last) => [...pairs, last])

const betweenLetters = /(?<=\p{L}|\p{M})['’‘ʼʻ`´′＇](?=\p{L})/gu
const withTwo: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' }
const twoLetters = (text: string) =>
	text
		.normalize('NFKC')
		.toLowerCase()
		.replace(/[äöüøå]/g, (letter) => withTwo[letter] as string)
/** After these letters no `ue` is an ü: Bauer, neue, Quelle. */
const oneLetter = (text: string) => fold(text).replace(/[ao]e|aa|(?<![aeoq])ue/g, (two) => two.charAt(0))

/** Text that has another spelling; of longer text only the beginning has. */
const spelledOtherwise = /[äöüøåæœ]|\u0308|\u030a|[ao]e|aa|ue|['’‘ʼʻ`´′＇]\p{L}/iu
const longestSpelled = 1_000

/** The words of other spellings: a record is also found by them. `O'Brien` is `obrien`, `Müller` is `mueller`, and `Mueller` is `muller`. */
export function otherSpellings(text: string): string[] {
	const start = text.slice(0, longestSpelled)
	if (!spelledOtherwise.test(start)) return []
	const own = words(start)
	const forms = [start, start.replace(betweenLetters, '')].flatMap((form) => [form, twoLetters(form), oneLetter(form)])
	const others = new Set(forms.flatMap(words))
	// What begins a word finds it already.
	return [...others].filter((other) => !own.some((word) => word.startsWith(other)))
}

/** A search heeds so many words. */
const mostWords = 12

/** The words that a search looks for, each once. Text without a space between its words is looked for by each two characters. */
export function searchedWords(text: string): string[] {
	const found = split(hostsOf(text), (pairs, last) => (pairs.length > 0 ? pairs : [last]))
	return [...new Set(found)].slice(0, mostWords)
}

/** Of a web address only the host says whose it is. */
const hostsOf = (text: string) =>
	text.replace(/(?<![\p{L}\p{N}])(?:[a-z][a-z\d+.-]{1,20}:\/\/(?:[^\s/?#@]*@)?|www\.)([^\s/?#:]+)\S*/giu, ' $1 ')

function split(text: string, ofSpaceless: (pairs: string[], last: string) => string[]): string[] {
	const folded = fold(text)
	const found = (/:\/\/|www/.test(folded) ? folded.replace(beforeHost, '') : folded).match(run) ?? []
	if (isAscii(folded)) return found.map((word) => word.slice(0, longest))
	return found.flatMap((word) => {
		if (!spaceless.test(composed(word))) return word.slice(0, longest)
		return (composed(word).match(parts) ?? []).flatMap((part) => {
			if (!spaceless.test(part)) return part.slice(0, longest)
			const characters = [...part]
			const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`)
			// Decomposed again, so that a syllable that is still being typed is the beginning of the whole one.
			return ofSpaceless(pairs, characters.at(-1) as string).map((word) => word.normalize('NFKD'))
		})
	})
}

/** Folding takes the syllables of Korean apart. */
const composed = (word: string) => word.normalize('NFC')
